"""The tables of a run directory: every column with its type and meaning.

A column's meaning is also stored in the files, as field metadata under the key `doc`. All times are seconds on the
run's clock; trace time 0 is clock time 0. Anyone may write these tables from another engine: columns are matched by
name, further columns are kept, integer widths may differ.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa

FORMAT = "twinserve-run"
FORMAT_VERSION = 3
"""1: without `prefill_context`, `decode_context_sq` and `max_decode_context` of steps. 2: without `shared_context`.
What these hold is in no other table, so that such a run is refused: no cost model could be fitted to it, and no step of
it be verified."""
STATUSES = ("finished", "failed", "aborted", "refused", "unfinished")


class Column(NamedTuple):
    """One column of a table.

    Attributes:
        name: its name.
        type: its Arrow type as written; a reader takes any type of the same kind.
        doc: what a value means, with unit.
        nullable: whether a value may be missing, and `doc` says when it is.
    """

    name: str
    type: pa.DataType
    doc: str
    nullable: bool = False


def _schema(*columns: Column) -> pa.Schema:
    return pa.schema([pa.field(c.name, c.type, c.nullable, metadata={"doc": c.doc}) for c in columns])


_INT = pa.int64()
_TIME = pa.float64()
_TEXT = pa.string()
_INTS = pa.list_(pa.int64())

STEPS = _schema(
    Column("step", _INT, "number of the step; counts up by one from row to row, empty steps included"),
    Column("start_s", _TIME, "clock when the step was scheduled, in seconds"),
    Column("duration_s", _TIME, "time until the next step could start, in seconds; tokens appear at its end"),
    Column("host_s", _TIME, "part of the duration in which the device was idle, in seconds"),
    Column("device_s", _TIME, "part of the duration in which the device was busy, in seconds"),
    Column("graph_size", pa.int32(), "rows of the captured graph that ran; null if eager or an empty step", True),
    Column("num_prefill_tokens", _INT, "query tokens of prefill rows; a row of more than one token is a prefill row"),
    Column("num_prefill_seqs", _INT, "prefill rows"),
    Column("prefill_qk", _INT, "over prefill rows, sum of query tokens times context"),
    Column("prefill_qq", _INT, "over prefill rows, sum of query tokens squared"),
    Column("prefill_context", _INT, "over prefill rows, sum of context in tokens"),
    Column("max_query", _INT, "most query tokens of one row"),
    Column("max_context", _INT, "largest context of one row, in tokens, the last query token included"),
    Column("num_decode_seqs", _INT, "decode rows; a row of one token is a decode row, whatever it computes"),
    Column("decode_context", _INT, "over decode rows, sum of context in tokens"),
    Column("decode_context_sq", _INT, "over decode rows, sum of context squared"),
    Column("max_decode_context", _INT, "largest context of a decode row, in tokens; 0 without"),
    Column(
        "shared_context",
        _INT,
        "tokens of KV blocks that several requests hold, counted for each of them but one",
    ),
    Column("num_sampled", _INT, "rows that yield a token"),
    Column("num_new_blocks", _INT, "KV blocks handed out for this step, prefix hits not counted"),
    Column("num_admitted", _INT, "requests that got their blocks in this step, resumed ones included"),
    Column("num_released", _INT, "requests finished, aborted, failed or preempted since the step before"),
    Column("num_waiting", _INT, "requests that wait after the step: those it left unscheduled"),
    Column("num_running", _INT, "requests that run after the step, those that ended in it taken off"),
    Column("num_used_blocks", _INT, "KV blocks held by requests right after the step was scheduled"),
)

EVENTS = _schema(
    Column("step", _INT, "step in which it happened"),
    Column("request_id", _TEXT, "request to which it happened"),
    Column(
        "kind",
        _TEXT,
        "admitted (first time), preempted, resumed (admitted again), chunk (prompt tokens computed), blocks (KV blocks "
        "handed out), finished, aborted or failed; tokens decoded one by one have no event",
    ),
    Column("num_tokens", _INT, "admitted, resumed: prefix tokens hit; chunk: tokens computed; else null", True),
    Column("block_ids", pa.list_(pa.int32()), "blocks: the new KV blocks in table order; else null", True),
    Column("reason", _TEXT, "finished: length or stop; failed, aborted: why; else null", True),
)

REQUESTS = _schema(
    Column("index", _INT, "position in the trace, from 0"),
    Column("request_id", _TEXT, "unique name"),
    Column("session_id", _TEXT, "session of which it is a turn; null if of none", True),
    Column("line", _INT, "line in the trace file, from 1"),
    Column("priority", _INT, "smaller is more urgent"),
    Column("input_tokens", _INT, "prompt length in tokens"),
    Column("requested_output_tokens", _INT, "output tokens asked for"),
    Column("output_tokens", _INT, "output tokens emitted"),
    Column("arrival_s", _TIME, "scheduled arrival, in seconds; null if the run ended before it or its turn came", True),
    Column("submit_s", _TIME, "when it was handed to the engine, in seconds; null if it never was", True),
    Column(
        "first_scheduled_s",
        _TIME,
        "start of the first step that ran it, in seconds; null if none did, or unknown",
        True,
    ),
    Column("first_token_s", _TIME, "end of the step that gave its first token, in seconds; null without tokens", True),
    Column("last_token_s", _TIME, "end of the step that gave its last token, in seconds; null without tokens", True),
    Column("finish_s", _TIME, "when it ended, however it ended, in seconds; null if unfinished", True),
    Column(
        "status",
        _TEXT,
        "finished; failed (in the engine); aborted (by the caller); refused (never admitted to the engine); unfinished",
    ),
    Column("reason", _TEXT, "finished: length or stop; failed, aborted, refused: why; else null", True),
    Column("hit_tokens", _INT, "prompt tokens found in the prefix cache at the first admission"),
    Column("reprefill_tokens", _INT, "tokens computed again after preemptions"),
    Column("num_preemptions", _INT, "how often it was preempted"),
    Column("preempted_s", _TIME, "time from start of the steps that preempted it to start of those that resumed it"),
    Column("emission_first_steps", _INTS, "first step of each run of consecutive steps that gave one token each"),
    Column("emission_counts", _INTS, "length of each of those runs: steps, and tokens"),
)

SCHEMAS: Mapping[str, pa.Schema] = MappingProxyType({"steps": STEPS, "events": EVENTS, "requests": REQUESTS})

REQUIRED_META: Mapping[str, type[Any]] = MappingProxyType(
    {"complete": bool, "num_kv_blocks": int, "settings": dict, "trace": dict}
)
"""Keys that `meta.json` must hold besides `format` and `format_version`; others are free, these are known:

complete: whether the run came to its end; a run that was stopped or killed has false.
num_kv_blocks: KV blocks of the engine, at least 1; null if a client recorded the run.
settings: the resolved configuration. Read here, each if present: `max_num_seqs`, `max_num_batched_tokens`,
    `block_size`, `chunked_prefill` (what held requests in the queue), `model`, `backend` (headings).
trace: `name`, `digest`, `num_requests` of the trace as run, each optional.
slo: limits in seconds by metric (`ttft`, `tpot`, `itl`, `e2e`), or null.
warmup_s: seconds after the first arrival that the steady-state window leaves out, or null.
observed_by: "engine" (or missing), or "client" for a record from outside: then `first_scheduled_s` is null, there are
    no events, and rows of `steps` are the instants at which tokens came (several of no length for several at once).
has_arrivals: false if the times of each request count from its own start. duration_s: of the whole run, then.
request_rate, max_concurrency: of the client, for headings.
vocab_size, has_tokenizer: tokens that the model knows, and whether the trace's prompt texts became tokens; `sim verify`
    repeats a run by them, without its model.
seed, versions, hardware, graph_sizes, mixed_graph_sizes, started_at: compared and shown, never interpreted.
"""
