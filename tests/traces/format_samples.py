"""A few rows of every format."""

import json
from typing import Any

CSV = {
    "azure": [
        "TIMESTAMP,ContextTokens,GeneratedTokens",
        "2024-05-12 00:00:00+00:00,374,44",
        "2024-05-12 00:00:00.009930+00:00,396,109",
        "2024-05-12T00:00:01.123Z,0,55",
    ],
    "burstgpt": [
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type",
        "19440110.0,1722ac82-0a46,43,GPT-4,906,446,1352,Conversation log",
        "19440161.0,,2,ChatGPT,36,29,65,API log",
        "19440301.0,1722ac82-0a46,26,GPT-4,1631,20,1651,Conversation log",
    ],
    "tracelab-replay": [
        "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms",
        "0,117,0,0,2318,200,300",
        "0,117,1,2518,348,131,154",
        "1,393,0,0,861,107,273",
    ],
    "vidur": ["arrived_at,num_prefill_tokens,num_decode_tokens", "0.0,374,44", "4.314579,396,109"],
    "servegen": ["0,0.01,1.0,Gamma,1.0,2.0", "600,0,0,,0,0", "1200,0.02,1.5,Weibull,0.7,70"],
}
OWN_COLUMNS = "time=at,input=in,output=out,session=chat"
OWN_CSV = ["out,in,at,chat", "44,374,1700000000.5,", "109,396,1700000001,", "5,0,1700000001.25,", "7,8,1700000002,x"]
NATIVE: list[dict[str, Any]] = [
    {"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1], "session_id": "s"},
    {"delay": 20.5, "input_length": 700, "output_length": 5, "hash_ids": [0, 2], "session_id": "s"},
    {"timestamp": 7, "input_length": 3, "output_length": 1, "request_id": "x", "priority": 1, "prompt": "hi"},
]
BAILIAN = [
    {"chat_id": c, "parent_chat_id": p, "timestamp": t, "input_length": 20, "output_length": 3, "turn": n}
    | {"type": "text", "hash_ids": [1, 2]}
    for c, p, t, n in ((1, -1, 0.5, 1), (2, 1, 61.1, 2), (3, 9, 62.0, 2))
]
CALL = {
    "t": 0.0,
    "type": "n",
    "model": "m",
    "in": 130,
    "out": 5,
    "hash_ids": [1, 2],
    "api_time": 2.5,
    "think_time": 0.0,
}
AGENT = {"t": 9.5, "type": "subagent", "agent_id": "a", "duration_ms": 4000, "requests": [CALL, {**CALL, "t": 3.0}]}
WEKA = [
    {"id": name, "block_size": 64, "hash_id_scope": "local", "requests": [CALL, AGENT, {**CALL, "t": 12.0}]}
    for name in ("one", "two")
]
TRACELAB = [
    {"session_id": "s", "round_index": n, "input_tokens_total": 200, "prefix_tokens": 100 * n, "output_tokens": 9}
    | {"timing_events": [{"event_type": "tool_result", "timestamp": f"2026-06-01T05:4{n}:00.151Z"}]}
    for n in (0, 1)
]
LLMSERVINGSIM = [{"input_toks": 9, "output_toks": 8, "arrival_time_ns": 10**9 * n} for n in range(3)]
JSON = {
    "native": NATIVE,
    "bailian": BAILIAN,
    "weka": WEKA,
    "tracelab": TRACELAB,
    "llmservingsim": LLMSERVINGSIM,
}
PMF = {"0": {"input_tokens": "{4: 0.5, 6: 0.5}", "output_tokens": "{1: 1.0}", "reason_ratio": "{0.0: 1.0}"}}
FORMATS = [*CSV, *JSON]


def content_of(format: str) -> str:
    """A file of a format, lines in the manner of the format."""
    if format == "columns":
        return "\n".join(OWN_CSV) + "\n"
    return "\n".join(CSV[format] if format in CSV else map(json.dumps, JSON[format])) + "\n"
