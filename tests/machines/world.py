"""A scheduler and a checking backend, driven as a serving loop would, with a ledger of what must come out."""

from collections.abc import Collection

from engine import Batch, Ended, NanoVllmPolicy, Policy, Request, Scheduler, Sequence
from tests.kv_checking_backend import KvCheckingBackend
from tests.machines import scheduler_state as state
from tests.machines.ledger import Ledger
from tests.machines.universe import Universe

MAX_STEPS = 3000  # far above what the requests of one universe can need, even if they preempt each other all the time


class World:
    """What a caller can do, each with what must hold of its outcome.

    Attributes:
        batch: scheduled and not yet given back; None between steps.
        held: blocks of each of its rows.
        written: of these, the blocks that the row writes.
        ends: how each request has ended, oldest first.
        has_progressed: whether the last `schedule` gave, took or ended something, or had nothing to do.
        num_preemptions: sequences that lost their blocks.
        num_hit_tokens: tokens that admissions found in the cache.
        num_chunks: rows that computed a part of what they had to.
    """

    def __init__(self, universe: Universe, policy: Policy | None = None) -> None:
        """Start idle; `policy` stands in for the universe's."""
        self.universe = universe
        self.limits = universe.limits
        self.scheduler = Scheduler(universe.limits, universe.num_blocks, policy or universe.policy)
        self.backend = KvCheckingBackend(universe.num_blocks, universe.limits.block_size)
        self.ledger = Ledger(universe.limits)
        self.batch: Batch | None = None
        self.held: dict[Sequence, set[int]] = {}
        self.written: dict[Sequence, set[int]] = {}
        self.ends: list[Ended] = []
        self.has_progressed = True
        self.num_preemptions = self.num_hit_tokens = self.num_chunks = 0

    @property
    def is_nano(self) -> bool:
        """Whether the limits have the meaning that policy `nano-vllm` gives them."""
        return isinstance(self.universe.policy, NanoVllmPolicy)

    @property
    def row_ids(self) -> tuple[str, ...]:
        """Rows of the batch that is being executed, if any."""
        return self.batch.request_ids if self.batch else ()

    @property
    def live_ids(self) -> set[str]:
        """Requests that have not ended."""
        return {seq.request_id for seq in state.live(self.scheduler)}

    def is_servable(self, request: Request) -> bool:
        """Whether `add` must accept a request."""
        num_tokens = request.prompt.num_tokens
        fits = num_tokens < self.limits.max_model_len
        return fits and num_tokens <= self.universe.num_blocks * self.limits.block_size

    def add(self, request: Request) -> None:
        """Queue a request that can be served."""
        self.scheduler.add(request)
        self.ledger.add(request)

    def abort(self, request_id: str) -> None:
        """End a request, if it is live, whatever it is doing."""
        is_live = request_id in self.live_ids
        ended = self.scheduler.abort(request_id)
        assert (ended is not None) == is_live
        self._take((ended,) if ended else ())

    def schedule(self) -> Batch:
        """Plan a step; it may end only those who can never fit."""
        had_work = self.scheduler.has_unfinished
        batch = self.scheduler.schedule()
        self.has_progressed = bool(len(batch) or batch.preempted or batch.ended or not had_work)
        assert all("the pool has" in each.reason for each in batch.ended), "only who outgrows the pool may fail here"
        self._take(batch.ended)
        self._count(batch)
        if len(batch):
            self.batch = batch
            self._note_rows(batch)
        return batch

    def execute(self, failing: Collection[str] = ()) -> None:
        """Compute and give back the batch; those told to must fail, and those who hit what these were to compute."""
        batch = self.batch
        assert batch
        result = self.backend.execute(batch, failing)
        must_fail = {seq.request_id for seq in self.held if seq.is_live and seq.request_id in self.backend.lost}
        has_broken = set(failing) == set(batch.request_ids)
        ended = self.scheduler.fail(batch, "broken") if has_broken else self.scheduler.update(batch, result)
        assert {each.request_id for each in ended if each.status == "failed"} == must_fail
        self._take(ended)
        self.batch, self.held, self.written = None, {}, {}

    def half_step(self) -> None:
        """Finish the step that is being executed, or plan one if there is work."""
        if self.batch:
            self.execute()
        elif self.scheduler.has_unfinished:
            self.schedule()

    def drain(self) -> None:
        """Go on until all have ended."""
        for _ in range(MAX_STEPS):
            if not (self.batch or self.scheduler.has_unfinished):
                return
            self.half_step()
        raise AssertionError(f"there is still work after {MAX_STEPS} steps")

    def _count(self, batch: Batch) -> None:
        self.num_preemptions += len(batch.preempted)
        self.num_hit_tokens += sum(each.num_hit_tokens for each in batch.admitted)
        self.num_chunks += batch.samples.count(False)

    def _note_rows(self, batch: Batch) -> None:
        by_id, size = {seq.request_id: seq for seq in state.live(self.scheduler)}, self.limits.block_size
        for name, first, count in zip(batch.request_ids, batch.first_positions, batch.num_tokens, strict=True):
            table = by_id[name].block_table
            self.held[by_id[name]] = set(table)
            self.written[by_id[name]] = set(table[first // size : -(-(first + count) // size)])

    def _take(self, ended: Collection[Ended]) -> None:
        for each in ended:
            self.ledger.end(each)
            self.ends.append(each)
