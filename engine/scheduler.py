"""Owns the queues: what waits, what runs, what ends."""

from collections.abc import Mapping
from collections.abc import Sequence as Items

from engine.batch import Batch
from engine.batch_assembly import assemble
from engine.block_manager import BlockManager
from engine.checks import check_request, check_sizes
from engine.draft import Draft
from engine.ended import Ended, EndStatus
from engine.errors import BackendError, EngineError, NoProgressError, RequestError
from engine.limits import Limits
from engine.policy import Policy, foresight_of, rules_of
from engine.request import Request
from engine.running_set import RunningSet
from engine.sequence import Sequence
from engine.step_guard import StepGuard
from engine.step_result import StepResult
from engine.stretch import Stretch, StretchOutcome
from engine.stretch_plan import count_new_blocks
from engine.view import View
from engine.waiting_queue import ArrivalQueue, PriorityQueue, WaitingQueue


class Scheduler:
    """Continuous batching over one pool of KV blocks.

    Call `schedule`, execute the batch, call `update` with the result (or `fail` if there is none). `add` and `abort`
    may come at any time, also while a batch is being executed.
    """

    def __init__(
        self, limits: Limits, num_blocks: int, policy: Policy, end_token_ids: frozenset[int] = frozenset()
    ) -> None:
        """Start idle.

        Args:
            limits: sizes that hold for every policy.
            num_blocks: KV blocks that the backend has.
            policy: decides what each step does.
            end_token_ids: tokens that end an output unless a request ignores them.

        Raises:
            SettingError: the settings cannot work together.
        """
        self.limits = limits
        self.policy = policy
        self._rules = rules_of(policy)
        self._only_decodes = foresight_of(policy)
        check_sizes(limits, num_blocks, self._rules.chunked_prefill)
        self.block_manager = BlockManager(num_blocks, limits.block_size, self._rules)
        self._end_token_ids = end_token_ids
        self._waiting: WaitingQueue = PriorityQueue() if self._rules.waiting_order == "priority" else ArrivalQueue()
        self._running = RunningSet()
        self._live: dict[str, Sequence] = {}
        self._num_added = 0
        self._num_stoppable = 0
        self._step = 0
        self._released: list[str] = []
        self._draft = Draft()
        self._guard = StepGuard(limits, type(policy).__name__)
        self._have_all_sampled = False

    @property
    def num_waiting(self) -> int:
        """Requests that wait for blocks."""
        return len(self._waiting)

    @property
    def num_running(self) -> int:
        """Requests that hold blocks and compute."""
        return len(self._running)

    @property
    def has_unfinished(self) -> bool:
        """Whether anything waits or runs."""
        return bool(self._live)

    def add(self, request: Request) -> None:
        """Queue a request.

        Raises:
            RequestError: it can never be served, or its id is in use; nothing was queued.
        """
        self.check(request)
        stop_at = min(request.prompt.num_tokens + request.params.max_tokens, self.limits.max_model_len)
        stop_ids = request.params.stop_token_ids | (frozenset() if request.params.ignore_eos else self._end_token_ids)
        seq = Sequence(request, self._num_added, stop_at, stop_ids, self.limits.block_size)
        self._num_added += 1
        self._num_stoppable += bool(seq.stop_ids)
        self._live[request.request_id] = seq
        self._waiting.add(seq)

    def abort(self, request_id: str) -> Ended | None:
        """End a request now; None if it is not live (any more). A step that runs goes on, its result is ignored."""
        seq = self._live.get(request_id)
        if seq is None:
            return None
        self._draft.lose_a_row()
        return self._end(seq, "aborted", "abort")

    def schedule(self) -> Batch:
        """Plan the next step; a batch without rows is legal and is neither executed nor given to `update`.

        Raises:
            NoProgressError: the policy plans nothing, and would plan nothing if it were asked again; or it preempts for
                ever and nobody gets a token.
            PolicyError: the policy asks for something that cannot be, or exceeds a limit.
            EngineError: the batch before is still being executed.
        """
        if self._draft.rows:
            raise EngineError(f"Step {self._step - 1} is under way; call update or fail before the next schedule.")
        self._have_all_sampled = False
        draft = self._draft = Draft()
        self.policy.select(self._view(draft))
        self._released += [seq.request_id for seq in (*draft.preempted, *draft.failed)]
        if not (draft.rows or draft.preempted or draft.failed):
            self._resolve_standstill(draft)
        ended = tuple([self._close(seq, "failed", self._too_long(seq)) for seq in draft.failed])
        released = tuple(self._released) if draft.rows else ()
        batch = assemble(self._step, draft, self._running, self.block_manager.shared_tokens, released, ended)
        if draft.rows:
            self._released.clear()
        for admitted in draft.admitted:
            admitted.seq.was_admitted = True
        self._step += 1
        self._guard.check(batch)
        return batch

    def update(self, batch: Batch, result: StepResult) -> tuple[Ended, ...]:
        """Take the tokens of an executed batch; returns the requests that have ended, failed ones first.

        Raises:
            BackendError: the result does not belong to the batch.
        """
        assert batch.step == self._step - 1, "update takes the batch that was scheduled last"
        if len(result.token_ids) != batch.shape.num_sampled:
            raise BackendError(
                f"The backend returned {len(result.token_ids)} tokens for the {batch.shape.num_sampled} sampling rows "
                f"of step {batch.step}; it must return one for each."
            )
        failed = self._fail_rows(result.failed) if result.failed else []
        advanced = self._advance(batch, result.token_ids)
        self._draft = Draft()
        if self._rules.register_when == "computed":
            self._register(advanced)
        finished = self._end_complete(advanced)
        # The rows that are still live are all running sequences, and each of them has one token to compute next.
        num_live = len(advanced) - len(finished)
        self._have_all_sampled = batch.shape.num_sampled == len(batch) and num_live == len(self._running)
        return (*failed, *finished)

    def look_ahead(self, max_steps: int) -> Stretch | None:
        """The next steps, if it is certain that all running sequences decode in each and nothing else happens.

        It changes nothing. Between these steps there is no arrival and no abort, and no row fails; tokens cannot end a
        request. None if the next step is to be found out with `schedule`.
        """
        is_sure = self._have_all_sampled and not self._num_stoppable and len(self._running) and not self._draft.rows
        if not is_sure or not self._only_decodes(self._view(Draft())):
            return None
        seqs = list(self._running)
        request_ids, num_tokens, _ = self._running.decode_columns()
        num_new_blocks = tuple(count_new_blocks(seqs, self.block_manager, max_steps))
        firsts = tuple([seq.num_computed_tokens for seq in seqs])
        blocks = (num_new_blocks, self.block_manager.num_used, self.block_manager.shared_tokens)
        stretch = Stretch(self._step, request_ids, num_tokens, firsts, *blocks, tuple(self._released))
        return stretch if num_new_blocks else None

    def take(self, stretch: Stretch, token_ids: Items[Items[int]]) -> StretchOutcome:
        """Do what `schedule` and `update` would do in the first steps of the stretch that has been looked at last.

        Args:
            stretch: what `look_ahead` returned; nothing has happened since.
            token_ids: for each row the tokens that it samples, one for each step taken.
        """
        assert stretch.first_step == self._step, "take takes the stretch that was looked at last"
        seqs, num_steps = list(self._running), len(token_ids[0])
        for seq, ids in zip(seqs, token_ids, strict=True):
            seq.output_ids += ids
        growth = self.block_manager.grow_decodes(seqs, num_steps)
        for seq in seqs:
            seq.num_computed_tokens += num_steps
        self._running.advance(len(seqs), num_steps)
        self._step += num_steps
        self._released.clear()
        # Before the last of the steps that were certain, no row reaches its length.
        ended = self._end_complete(seqs) if num_steps == stretch.max_steps else ()
        return StretchOutcome(growth, tuple(ended))

    def _view(self, draft: Draft) -> View:
        return View(self.limits, self._rules, self.block_manager, self._running, self._waiting, draft)

    def fail(self, batch: Batch, reason: str) -> tuple[Ended, ...]:
        """End every row of a batch that the backend could not execute; all other requests live on."""
        tokens = (0,) * batch.shape.num_sampled
        return self.update(batch, StepResult(tokens, 0.0, 0.0, failed=dict.fromkeys(batch.request_ids, reason)))

    def _advance(self, batch: Batch, token_ids: tuple[int, ...]) -> list[Sequence]:
        """Take computed tokens and samples; returns the rows that are still live."""
        rows, num_leading = list(self._draft.rows), self._draft.num_leading
        # This loop runs for nearly every token generated; `_advance_others` would give the same result.
        for seq, token_id in zip(rows[:num_leading], token_ids, strict=False):
            seq.num_computed_tokens += 1
            seq.output_ids.append(token_id)
        self._running.advance(num_leading)
        if num_leading == len(rows):
            return rows
        others = self._advance_others(batch, rows, token_ids[num_leading:], num_leading)
        return rows[:num_leading] + others

    def _advance_others(
        self, batch: Batch, rows: list[Sequence], token_ids: tuple[int, ...], first: int
    ) -> list[Sequence]:
        sampled = iter(token_ids)
        live = []
        columns = zip(rows[first:], batch.num_tokens[first:], batch.samples[first:], strict=True)
        for seq, count, samples in columns:
            new_ids = [next(sampled)] if samples else []
            if seq.is_live:
                seq.num_computed_tokens += count
                seq.output_ids += new_ids
                live.append(seq)
        self._running.note_progress()
        return live

    def _register(self, rows: list[Sequence]) -> None:
        for seq in rows:
            if seq.num_computed_tokens > seq.quiet_until:
                self.block_manager.register(seq, seq.num_computed_tokens)

    def _end_complete(self, rows: list[Sequence]) -> list[Ended]:
        reasons = dict.fromkeys(self._running.take_complete(), "length")
        if self._num_stoppable:
            reasons |= {seq: "stop" for seq in rows if seq.output_ids and seq.output_ids[-1] in seq.stop_ids}
        ordered = rows if len(reasons) > 1 else reasons  # one needs no search for its place
        return [self._end(seq, "finished", reasons[seq]) for seq in ordered if seq in reasons]

    def _fail_rows(self, reasons: Mapping[str, str]) -> list[Ended]:
        """End the rows that failed, and those that hit a block which such a row should have filled in this step."""
        draft = self._draft
        unknown = set(reasons).difference(seq.request_id for seq in draft.rows)
        if unknown:
            raise BackendError(f"The backend failed {', '.join(sorted(unknown))}, which no row of the batch computes.")
        draft.lose_a_row()
        failed = {seq: reasons[seq.request_id] for seq in draft.rows if seq.request_id in reasons}
        queue = list(failed)
        for seq in queue:
            fresh = draft.registered.get(seq, [])
            self.block_manager.unregister(fresh if seq.is_proven else [*fresh, *seq.block_table])
            hit_by = [other for other in draft.holders_of(fresh) if other not in failed]
            failed |= dict.fromkeys(hit_by, f"It shares blocks with {seq.request_id!r}, which failed: {failed[seq]}")
            queue += hit_by
        return [self._end(seq, "failed", reason) for seq, reason in failed.items() if seq.is_live]

    def _end(self, seq: Sequence, status: EndStatus, reason: str) -> Ended:
        (self._running if seq.is_running else self._waiting).remove(seq)
        if seq.block_table:
            self.block_manager.release(seq)
            self._released.append(seq.request_id)
        return self._close(seq, status, reason)

    def _close(self, seq: Sequence, status: EndStatus, reason: str) -> Ended:
        del self._live[seq.request_id]
        seq.is_live = False
        self._num_stoppable -= bool(seq.stop_ids)
        return Ended(seq.request_id, status, reason, tuple(seq.output_ids))

    def _resolve_standstill(self, draft: Draft) -> None:
        """Nothing was planned: let a request fail that has outgrown the pool, or say that the policy is stuck."""
        if not self._live:
            return
        blocks = self.block_manager
        stuck = next((seq for seq in self._waiting if blocks.blocks_for(seq.num_tokens) > blocks.num_blocks), None)
        if len(self._running) or stuck is None:
            raise NoProgressError(
                f"The policy {type(self.policy).__name__} scheduled nothing in step {self._step} with "
                f"{len(self._running)} running and {len(self._waiting)} waiting requests and "
                f"{blocks.num_free} of {blocks.num_blocks} blocks free; it would stay like this for ever."
            )
        self._waiting.remove(stuck)
        draft.failed.append(stuck)

    def _too_long(self, seq: Sequence) -> str:
        return (
            f"It has grown to {seq.num_tokens} tokens, which need {self.block_manager.blocks_for(seq.num_tokens)} "
            f"blocks of {self.limits.block_size}; the pool has {self.block_manager.num_blocks}."
        )

    def check(self, request: Request) -> None:
        """What `add` checks, without adding.

        Raises:
            RequestError: the request can never be served, or its id is in use.
        """
        if request.request_id in self._live:
            raise RequestError(f"Request id {request.request_id!r} is in use; give each live request its own.")
        check_request(request, self.limits, self.block_manager)
