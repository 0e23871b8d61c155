"""The workloads on which simulator and GPU are compared. No cost model is fitted to any of them."""

from benchmarks.fidelity.workload import Workload
from traces import GeneratorSettings

_BURSTY = GeneratorSettings(
    seed=11, num_requests=20_000, rate=1.0, burstiness=0.25, input_mean=900, input_sigma=0.9, input_max=16_000,
    output_mean=150, output_sigma=0.7, output_max=1000,
)  # fmt: skip
_SHARED = GeneratorSettings(
    seed=12, num_requests=20_000, rate=1.0, input_mean=3000, input_sigma=0.7, input_max=20_000, output_mean=120,
    output_sigma=0.7, output_max=800, prefix_roots=6, prefix_branching=4, prefix_depth=3, prefix_node_blocks=2,
)  # fmt: skip
_PREEMPTING = GeneratorSettings(
    seed=13, num_requests=20_000, rate=1.0, burstiness=0.3, input_mean=350, input_sigma=0.6, input_max=3000,
    output_mean=450, output_sigma=0.6, output_max=2000,
)  # fmt: skip

WORKLOADS = (
    Workload(name="azure_conv", source="azure2023_conv.csv", start_s=600.0),
    Workload(name="mooncake", source="mooncake_conversation.jsonl", saturated_s=30.0),
    Workload(name="preempting", source=_PREEMPTING, pool_tokens=80_000),
    Workload(name="azure_code", source="azure2023_code.csv"),
    Workload(name="bursty", source=_BURSTY),
    Workload(name="shared", source=_SHARED),
)

_TINY = {"input_max": 400, "output_max": 100, "rate": 1.0, "num_requests": 2000, "input_sigma": 0.5}
TINY_WORKLOADS = (
    Workload(
        name="bursty",
        source=GeneratorSettings(seed=11, burstiness=0.25, input_mean=80, output_mean=15, **_TINY),  # type: ignore[arg-type]  # one type fits all
        saturated_s=2.0,
    ),
    Workload(
        name="preempting",
        source=GeneratorSettings(seed=13, burstiness=0.3, input_mean=40, output_mean=30, **_TINY),  # type: ignore[arg-type]  # likewise
        pool_tokens=700,
        saturated_s=2.0,
    ),
)
"""To try the program without a GPU."""
