"""Adds up the steps of a run of the engine."""

from dataclasses import asdict, dataclass

from engine import Batch, StepResult


@dataclass(slots=True)
class StepTotals:
    """Counts and times; `add` is an `on_step` of `LLM.generate`.

    Attributes:
        num_steps: steps executed.
        num_graph_steps: of these, in a captured graph.
        num_prefill_steps: of these, with at least one row of several tokens.
        num_preempted: preemptions.
        num_hit_tokens: tokens found in the prefix cache.
        num_failed: rows that failed.
        execute_s: time in the backend.
        device_s: time that the device was busy.
        prefill_device_s: of this, in steps with prefill rows.
        graph_device_s: of `device_s`, in graph steps.
    """

    num_steps: int = 0
    num_graph_steps: int = 0
    num_prefill_steps: int = 0
    num_preempted: int = 0
    num_hit_tokens: int = 0
    num_failed: int = 0
    execute_s: float = 0.0
    device_s: float = 0.0
    prefill_device_s: float = 0.0
    graph_device_s: float = 0.0

    def add(self, batch: Batch, result: StepResult) -> None:
        """Count one step."""
        has_prefill, is_graph = batch.shape.num_prefill_seqs > 0, result.graph_size is not None
        self.num_steps += 1
        self.num_graph_steps += is_graph
        self.num_prefill_steps += has_prefill
        self.num_preempted += len(batch.preempted)
        self.num_hit_tokens += sum([admission.num_hit_tokens for admission in batch.admitted])
        self.num_failed += len(result.failed)
        self.execute_s += result.duration_s
        self.device_s += result.device_s
        self.prefill_device_s += result.device_s * has_prefill
        self.graph_device_s += result.device_s * is_graph

    def shares(self, wall_s: float) -> dict[str, float]:
        """All fields, and what they say about `wall_s` seconds of running.

        `host_share` is the part of the time in which the device was idle: in the engine (`engine_share`), or in the
        backend while it prepared a step or took its results.
        """
        return asdict(self) | {
            "host_share": 1 - self.device_s / wall_s,
            "engine_share": 1 - self.execute_s / wall_s,
            "graph_step_share": self.num_graph_steps / max(1, self.num_steps),
        }
