"""Everything that decides how a trace is replayed."""

import dataclasses
import math
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from sim.errors import SimError
from sim.setting_type import in_words

MAX_COUNT = 2**31 - 1
"""Largest number of anything, as block ids in a run directory have 32 bits."""
_SLOWEST_PROBE_US = 1000.0
"""A hundred times the reference: what is larger has been given in another unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """Settings of a replay, as flags, config files and run directories name them.

    Attributes:
        backend: "sim" (a cost model) or "gpu" (a real Qwen3 on torch).
        cost: "roofline", a file of calibrate, or a run directory whose step times are replayed; None means a
            calibration of this package where there is one, else the roofline; of backend sim.
        model: model by name or folder; for backend sim a sheet file too.
        gpu: GPU sheet, by name or as a file; None means that of the calibration, else an H200; of backend sim.
        host_probe_us: how quick the host is, as `summary.json` of a real run tells; None means as quick as those that
            the calibration was measured on; of backend sim.
        device: "cuda" (None means that), "cuda:1" or "cpu"; this and the next five are of backend gpu.
        load_format: "auto" (None means that) reads weights, "dummy" draws random ones of the same shapes.
        dtype: of weights and cache in place of the model's own.
        attention: kernels by name; None lets block size and hardware choose.
        cuda_graphs: whether steps run as captured graphs; None means yes where that can be.
        free_run: return the model's own samples and keep them, instead of the tokens of a replay; None means no.
        tp: tensor-parallel degree.
        policy: "vllm", "nano-vllm", or FILE.py:Name.
        scheduling_policy: this and the next six are settings of policies; None leaves a policy its own default, and
            giving one to a policy that does not have it is an error.
        chunked_prefill: whether a prompt may be computed in several steps.
        prefix_caching: whether prefixes are looked up and kept.
        long_prefill_token_threshold: most prompt tokens of one request in a step; 0 is no such limit.
        watermark: share of the pool that an admission leaves free.
        reserve_full_prompt: admit only if all known tokens fit.
        vllm_version: whose details to follow, "0.25" or "0.33".
        block_size: tokens in a KV block; None means 16, or for backend gpu 256, which suits every attention.
        num_blocks: KV blocks; None takes what the memory of the GPU holds, modelled or measured.
        memory_utilization: share of the GPU's memory to use.
        max_num_seqs: most running sequences (nano-vllm: most in a batch).
        max_num_batched_tokens: token budget of a step.
        max_model_len: length at which a sequence ends; None takes the model's.
        graph_sizes: batch sizes of captured decode steps; None takes the usual ones, empty runs all steps eager.
        mixed_graph_sizes: tokens of captured steps with prompts; None takes the usual ones, empty runs these eager.
        seed: tells unique contents of runs apart, and draws what a trace leaves open.
        pace: "virtual" lets the clock jump, "wall" lets it wait; None means virtual, or for backend gpu wall.
        warmup_s: seconds after the first arrival that the steady-state window leaves out; None for no such window.
        slo: limits such as "ttft=500ms,tpot=50ms"; None for none.
        oversize: what becomes of a prompt that the model or the pool cannot hold: "error" refuses the trace, "fail"
            counts the request as failed, "truncate" cuts its prompt.
        trace_format: format of the trace file, "auto" to look.
        trace_block_size: prompt tokens of one hash id; None takes the trace's own.
        time_unit: "s", "ms", "us" or "ns", of times that are plain numbers; None takes the format's own.
        delay_rule: what later turns of recorded sessions wait for, see `traces.DelayRule`; None means "think-only".
        api_time_scale: factor on recorded service times, of rule "api-scaled".
        max_delay_s: longer delays inside sessions are cut to this; None leaves them.
        request_rate: Poisson arrivals a second for a trace that has no times; None puts them all at 0.
        tokenizer: path of the tokenizer that counts the tokens of a trace of texts.
        columns: of a CSV trace of one's own, see `traces.ReadSettings`.
        start_s: begin of the window of the trace that is replayed.
        end_s: end of it.
        limit: most requests.
        rate_scale: factor on the request rate.
    """

    backend: Literal["sim", "gpu"] = "sim"
    cost: str | None = None
    model: str = "Qwen3-8B"
    gpu: str | None = None
    host_probe_us: float | None = None
    device: str | None = None
    load_format: Literal["auto", "dummy"] | None = None
    dtype: str | None = None
    attention: str | None = None
    cuda_graphs: bool | None = None
    free_run: bool | None = None
    tp: int = 1
    policy: str = "vllm"
    scheduling_policy: str | None = None
    chunked_prefill: bool | None = None
    prefix_caching: bool | None = None
    long_prefill_token_threshold: int | None = None
    watermark: float | None = None
    reserve_full_prompt: bool | None = None
    vllm_version: str | None = None
    block_size: int | None = None
    num_blocks: int | None = None
    memory_utilization: float = 0.9
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 8192
    max_model_len: int | None = None
    graph_sizes: tuple[int, ...] | None = None
    mixed_graph_sizes: tuple[int, ...] | None = None
    seed: int = 0
    pace: Literal["virtual", "wall"] | None = None
    warmup_s: float | None = None
    slo: str | None = None
    oversize: Literal["error", "fail", "truncate"] = "fail"
    trace_format: str = "auto"
    trace_block_size: int | None = None
    time_unit: str | None = None
    delay_rule: str | None = None
    api_time_scale: float | None = None
    max_delay_s: float | None = None
    request_rate: float | None = None
    tokenizer: str | None = None
    columns: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    limit: int | None = None
    rate_scale: float = 1.0

    @classmethod
    def of(cls, values: dict[str, Any], source: str) -> "ReplaySettings":
        """Settings from plain values.

        Args:
            values: by name, as they come from a file or from flags.
            source: where they come from, for messages.

        Raises:
            SimError: a name is unknown, or a value is of another type than it must be or no number to reckon with.
        """
        import msgspec

        check_names(values, source)
        try:
            settings = msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            name = str(error).rpartition("`$.")[2].rstrip("`").partition("[")[0]
            raise SimError(f"{source}: {name} is {values[name]!r}; it must be {in_words(cls, name)}.") from None
        for name, value in values.items():
            for number in value if isinstance(value, list | tuple) else (value,):
                _check_number(name, number, source)
        return settings

    def check_backend(self) -> None:
        """Raise SimError if a setting is given that the backend does not have."""
        other = OF_BACKEND["gpu" if self.backend == "sim" else "sim"]
        for name in other:
            if getattr(self, name) is not None:
                raise SimError(
                    f"{name} is {getattr(self, name)!r}, but backend {self.backend} has no such setting; it has "
                    f"{', '.join(OF_BACKEND[self.backend])}."
                )

    @property
    def policy_settings(self) -> dict[str, Any]:
        """Those settings of policies that are given."""
        values = {name: getattr(self, name) for name in POLICY_SETTINGS}
        return {name: value for name, value in values.items() if value is not None}


OF_BACKEND = {
    "sim": ("cost", "gpu", "host_probe_us"),
    "gpu": ("device", "load_format", "dtype", "attention", "cuda_graphs", "free_run"),
}
"""Settings that only one backend has."""

POLICY_SETTINGS = (
    "scheduling_policy",
    "chunked_prefill",
    "prefix_caching",
    "long_prefill_token_threshold",
    "watermark",
    "reserve_full_prompt",
    "vllm_version",
)


def _check_number(name: str, value: Any, source: str) -> None:  # noqa: ANN401  # values come as a file has them
    if isinstance(value, float) and not math.isfinite(value):
        raise SimError(f"{source}: {name} is {value}; it must be finite.")
    if isinstance(value, int) and value > MAX_COUNT and name != "seed":
        raise SimError(f"{source}: {name} is {value}; it must be at most {MAX_COUNT}.")
    if name == "host_probe_us" and value is not None and not 0 < value <= _SLOWEST_PROBE_US:
        raise SimError(
            f"{source}: {name} is {value}; it is a time in microseconds, above 0 and at most {_SLOWEST_PROBE_US:,.0f}."
        )
    if name == "warmup_s" and value is not None and value < 0:
        raise SimError(f"{source}: {name} is {value}; it must be at least 0.")


def check_names(values: dict[str, Any], source: str) -> None:
    """Raise SimError if a name is not a setting."""
    known = [field.name for field in dataclasses.fields(ReplaySettings)]
    unknown = sorted(set(values) - set(known))
    if unknown:
        near = get_close_matches(unknown[0], known, 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise SimError(f"{source}: unknown setting {', '.join(unknown)}{hint}; known: {', '.join(known)}.")
