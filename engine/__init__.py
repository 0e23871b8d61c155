"""What runs next: requests, blocks, policies and the scheduler, for any backend. Needs only xxhash."""

from engine.backend import Backend
from engine.batch import Admission, Batch
from engine.block_manager import BlockManager
from engine.ended import Ended
from engine.errors import (
    BackendEndedError,
    BackendError,
    EngineError,
    NoProgressError,
    PolicyError,
    RequestError,
    SettingError,
)
from engine.hashed_prompt import HashedPrompt
from engine.limits import Limits
from engine.llm import LLM
from engine.policies.nano_vllm import NanoVllmPolicy
from engine.policies.vllm import VllmPolicy
from engine.policy import Policy
from engine.prompt import Prompt
from engine.request import Request
from engine.request_output import RequestOutput
from engine.rules import Rules
from engine.sampling_params import SamplingParams
from engine.scheduler import Scheduler
from engine.sequence import Sequence
from engine.step_result import StepResult
from engine.step_shape import StepShape
from engine.stretch import Growth, Stretch, StretchOutcome
from engine.token_prompt import TokenPrompt
from engine.tokenizer import IncrementalDecoder, Tokenizer
from engine.view import View

__all__ = [
    "LLM",
    "Admission",
    "Backend",
    "BackendEndedError",
    "BackendError",
    "Batch",
    "BlockManager",
    "Ended",
    "EngineError",
    "Growth",
    "HashedPrompt",
    "IncrementalDecoder",
    "Limits",
    "NanoVllmPolicy",
    "NoProgressError",
    "Policy",
    "PolicyError",
    "Prompt",
    "Request",
    "RequestError",
    "RequestOutput",
    "Rules",
    "SamplingParams",
    "Scheduler",
    "Sequence",
    "SettingError",
    "StepResult",
    "StepShape",
    "Stretch",
    "StretchOutcome",
    "TokenPrompt",
    "Tokenizer",
    "View",
    "VllmPolicy",
]
