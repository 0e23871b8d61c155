"""Offline use: prompts in, outputs out, on any backend."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from types import TracebackType
from typing import NamedTuple, Self

from engine.backend import Backend
from engine.backend_limits import limits_for
from engine.batch import Batch
from engine.ended import Ended
from engine.errors import BackendError, RequestError
from engine.mailbox import Mailbox
from engine.policies.vllm import VllmPolicy
from engine.policy import Policy
from engine.progress_line import ProgressLine
from engine.prompt_input import check_list, check_text, token_ids_of
from engine.request import Request
from engine.request_output import RequestOutput
from engine.sampling_params import SamplingParams
from engine.scheduler import Scheduler
from engine.step_result import StepResult
from engine.token_prompt import TokenPrompt
from engine.tokenizer import Tokenizer

PromptLike = str | Sequence[int]
OnStep = Callable[[Batch, StepResult], None]


class Progress(NamedTuple):
    """What one step brought: the new token of each request that got one, and the requests that ended."""

    new_tokens: Mapping[str, int]
    ended: tuple[Ended, ...]


class LLM:
    """The engine without a clock: requests are served as fast as the backend goes."""

    def __init__(
        self, backend: Backend, tokenizer: Tokenizer | None = None, *, policy: Policy | None = None, **limits: int
    ) -> None:
        """Put the scheduler before a backend.

        Args:
            backend: computes the batches.
            tokenizer: needed for prompts and outputs as text, and to end at the model's end tokens.
            policy: how to schedule; `VllmPolicy()` by default.
            **limits: the fields of `Limits`; a backend that has limits of its own gives the defaults, and the most.

        Raises:
            SettingError: a limit is unknown, out of range, or more than the backend was made for.
        """
        self._backend = backend
        self._tokenizer = tokenizer
        end_ids = tokenizer.end_token_ids if tokenizer else frozenset()
        self._scheduler = Scheduler(limits_for(backend, limits), backend.num_blocks, policy or VllmPolicy(), end_ids)
        self._num_requests = 0
        self._mail: dict[str, Mailbox] = {}

    def generate(
        self,
        prompts: str | Sequence[PromptLike],
        sampling_params: SamplingParams | Sequence[SamplingParams] | None = None,
        on_step: OnStep | None = None,
        *,
        show_progress: bool = True,
    ) -> list[RequestOutput]:
        """Serve all prompts; the outputs come in the order of the prompts.

        Args:
            prompts: strings (with a tokenizer) or lists of token ids; a single string is a list of one.
            sampling_params: one for all, or one for each prompt.
            on_step: called after each step that was computed.
            show_progress: keep a line with requests ended, and prefill and decode tokens a second, on stderr if that is
                a terminal.

        Raises:
            RequestError: a prompt cannot be served, or the lists do not match; nothing was queued.
        """
        requests = self._requests([prompts] if isinstance(prompts, str) else prompts, sampling_params)
        for request in requests:
            self._scheduler.check(request)
        boxes = [self._post(request) for request in requests]
        progress = _progress_line(boxes) if show_progress else None
        after_step = _each_of(on_step, progress)
        try:
            while any(box.ended is None for box in boxes):
                self.step(after_step)
        finally:
            self._drop(requests)
            if progress:
                progress.close()
        return [self._output(request, box.ended) for request, box in zip(requests, boxes, strict=True) if box.ended]

    def chat(
        self, messages: Sequence[Mapping[str, str]], sampling_params: SamplingParams | None = None
    ) -> RequestOutput:
        """Answer a conversation, laid out by the model's chat template."""
        return self.generate([self._need_tokenizer().chat(messages)], sampling_params)[0]

    def stream(self, prompt: PromptLike, sampling_params: SamplingParams | None = None) -> Iterator[str]:
        """Yield the output's text as it comes; no piece splits a character.

        Raises:
            RequestError: the prompt cannot be served.
            BackendError: the request failed on the way.
        """
        decoder = self._need_tokenizer().decoder()
        (request,) = self._requests([prompt], sampling_params)
        box = self._post(request)
        try:
            while box.ended is None or box.token_ids:
                while not box.token_ids and box.ended is None:
                    self.step()
                pieces = [decoder.add(token_id) for token_id in box.token_ids]
                box.token_ids.clear()
                yield from filter(None, pieces)
        finally:
            self._drop([request])
        if box.ended.status == "failed":
            raise BackendError(box.ended.reason)
        if piece := decoder.finish():
            yield piece

    def add_request(
        self, prompt: PromptLike, sampling_params: SamplingParams | None = None, request_id: str | None = None
    ) -> str:
        """Queue one request for `step`; returns its id."""
        (request,) = self._requests([prompt], sampling_params)
        request = Request(request_id or request.request_id, request.prompt, request.params)
        self._scheduler.add(request)
        return request.request_id

    def abort(self, request_id: str) -> Ended | None:
        """End a request now; None if it is not live."""
        ended = self._scheduler.abort(request_id)
        return self._deliver(Progress({}, (ended,))).ended[0] if ended else None

    @property
    def has_unfinished(self) -> bool:
        """Whether `step` has anything to do."""
        return self._scheduler.has_unfinished

    def step(self, on_step: OnStep | None = None) -> Progress:
        """Schedule, execute, update; a batch that the backend cannot execute ends its requests and no others."""
        batch = self._scheduler.schedule()
        result, ended = self._compute(batch) if len(batch) else (None, ())
        if result and on_step:
            on_step(batch, result)
        return self._deliver(Progress(_new_tokens(batch, result, ended), (*batch.ended, *ended)))

    def _compute(self, batch: Batch) -> tuple[StepResult | None, tuple[Ended, ...]]:
        try:
            result = self._execute(batch)
            return result, self._scheduler.update(batch, result)
        except BackendError as error:
            return None, self._scheduler.fail(batch, str(error))

    def _execute(self, batch: Batch) -> StepResult:
        try:
            return self._backend.execute(batch)
        except BackendError:
            raise
        except BaseException as error:
            # Nobody may hit blocks that this step was to fill, so its rows end before the error goes on.
            self._deliver(Progress({}, self._scheduler.fail(batch, f"The step was broken off: {error!r}.")))
            raise

    def _post(self, request: Request) -> Mailbox:
        self._scheduler.add(request)
        box = self._mail[request.request_id] = Mailbox()
        return box

    def _deliver(self, progress: Progress) -> Progress:
        for request_id in self._mail.keys() & progress.new_tokens:
            self._mail[request_id].token_ids.append(progress.new_tokens[request_id])
        for ended in progress.ended:
            if ended.request_id in self._mail:
                self._mail[ended.request_id].ended = ended
        return progress

    def close(self) -> None:
        """Close the backend."""
        self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def _requests(
        self, prompts: Sequence[PromptLike], params: SamplingParams | Sequence[SamplingParams] | None
    ) -> list[Request]:
        check_list(prompts, "Prompts")
        if params is None or isinstance(params, (SamplingParams, Mapping)):
            params = [SamplingParams() if params is None else params] * len(prompts)
        check_list(params, "Sampling params")
        if len(params) != len(prompts):
            raise RequestError(
                f"There are {len(prompts)} prompts but {len(params)} sampling params; give one or as many."
            )
        for each in params:
            if not isinstance(each, SamplingParams):
                raise RequestError(f"Sampling params are {each!r}; give SamplingParams(...), one or a list of them.")
        token_ids = [self._encode(prompt, f"Prompt {i}") for i, prompt in enumerate(prompts)]
        first = self._num_requests
        self._num_requests += len(prompts)
        return [
            Request(f"request-{first + i}", TokenPrompt(ids), each)
            for i, (ids, each) in enumerate(zip(token_ids, params, strict=True))
        ]

    def _encode(self, prompt: PromptLike, name: str) -> Sequence[int]:
        if not isinstance(prompt, str):
            return token_ids_of(prompt, name)
        check_text(prompt, name)
        return self._need_tokenizer().encode(prompt)

    def _need_tokenizer(self) -> Tokenizer:
        if self._tokenizer is None:
            raise RequestError("There is no tokenizer; give LLM one, or use lists of token ids and `generate`.")
        return self._tokenizer

    def _drop(self, requests: Sequence[Request]) -> None:
        """Wait for these no longer; those that have not ended do so now."""
        for request in requests:
            box = self._mail.pop(request.request_id, None)
            if box is not None and box.ended is None:
                self._scheduler.abort(request.request_id)

    def _output(self, request: Request, ended: Ended) -> RequestOutput:
        return RequestOutput(
            request_id=request.request_id,
            prompt_token_ids=tuple(request.prompt.token_ids or ()),
            token_ids=ended.output_ids,
            text=self._tokenizer.decode(ended.output_ids) if self._tokenizer else None,
            status=ended.status,
            finish_reason=ended.reason,
        )


def _progress_line(boxes: Sequence[Mailbox]) -> ProgressLine:
    return ProgressLine(len(boxes), lambda: sum(box.ended is not None for box in boxes), sys.stderr)


def _each_of(on_step: OnStep | None, progress: ProgressLine | None) -> OnStep | None:
    """What to call after a step."""
    if progress is None:
        return on_step

    def both(batch: Batch, result: StepResult) -> None:
        progress.note(batch.shape)
        if on_step:
            on_step(batch, result)

    return both


def _new_tokens(batch: Batch, result: StepResult | None, ended: Sequence[Ended]) -> dict[str, int]:
    if result is None:
        return {}
    tokens = dict(zip(compress(batch.request_ids, batch.samples), result.token_ids, strict=True))
    for each in ended:
        if each.status != "finished":
            tokens.pop(each.request_id, None)  # the token of a failed row means nothing
    return tokens
