"""Help that lists many options, or commands, under headings."""

from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from sim.flag_synonyms import CommandWithSynonyms

_WIDEST = 1000  # longer than any first sentence: one that is too long for a line wraps


class CommandsHelp(TyperGroup):
    """Help of the whole program. A command that is named nowhere here stands under the last heading."""

    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "Replay a trace": ("replay", "sweep", "verify"),
        "Read runs": ("report", "compare", "why", "timeline"),
        "Cost models": ("explain", "profile", "calibrate"),
        "Traces and records of others": ("trace", "import-vllm"),
    }

    # The formatter is click's, as below.
    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Writes each command with its first sentence, whole, by group."""
        named = [name for names in self.GROUPS.values() for name in names]
        rest = [name for name in self.list_commands(ctx) if name not in named]
        for title, names in (*self.GROUPS.items(), ("Others", tuple(rest))):
            known = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(name, each.get_short_help_str(_WIDEST)) for name, each in known if each is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class TraceCommandsHelp(CommandsHelp):
    """Help of `trace`."""

    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "Look at traces": ("info", "check"),
        "Make traces": ("convert", "generate", "merge", "scale"),
    }


class ReplayHelp(CommandWithSynonyms):
    """Help of `replay`. What is named nowhere here stands under the last heading."""

    REST: ClassVar[str] = "Run and report"
    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "What runs": ("backend", "cost", "model", "gpu", "tp"),
        "Only with --backend gpu": ("device", "load_format", "dtype", "attention", "cuda_graphs", "free_run"),
        "Limits": (
            "max_num_seqs",
            "max_num_batched_tokens",
            "max_model_len",
            "block_size",
            "num_blocks",
            "memory_utilization",
        ),
        "Policy": (
            "policy",
            "scheduling_policy",
            "prefix_caching",
            "chunked_prefill",
            "long_prefill_token_threshold",
            "watermark",
            "reserve_full_prompt",
            "vllm_version",
        ),
        "Trace": (
            *("trace_format", "columns", "trace_block_size", "time_unit", "tokenizer", "start", "end", "limit"),
            "oversize",
            *("rate_scale", "request_rate", "delay_rule", "api_time_scale", "max_delay"),
        ),
    }

    # The formatter is click's, of which typer ships its own copy or uses the installed one, by version.
    def format_options(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401
        """Writes arguments, then options by group, each in the order of the command."""
        titles = dict.fromkeys(("Argument", *self.GROUPS, self.REST))
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[self._title(parameter)].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def _title(self, parameter: Any) -> str:  # noqa: ANN401  # click's too
        if parameter.param_type_name == "argument":
            return "Argument"
        return next((title for title, names in self.GROUPS.items() if parameter.name in names), self.REST)


class SweepHelp(ReplayHelp):
    """Help of `sweep`: its own options, then those that it shares with `replay`."""

    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "Sweep": ("rates", "policies", "sets", "attainment", "refine", "jobs"),
        **ReplayHelp.GROUPS,
    }


class TraceHelp(ReplayHelp):
    """Help of the commands of `trace`: their own options, then those that say how a trace is read."""

    REST: ClassVar[str] = "Options"
    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "Options": (),
        "How a trace is read": tuple(
            name for name in ReplayHelp.GROUPS["Trace"] if name not in ("oversize", "rate_scale")
        ),
    }
