"""What is asked of the engine: a prompt, how to sample, and how urgent it is."""

from dataclasses import dataclass

from engine.prompt import Prompt
from engine.sampling_params import SamplingParams


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it is handed to `Scheduler.add`.

    Attributes:
        request_id: unique among live requests.
        prompt: its content.
        params: sampling and stop conditions.
        priority: smaller is more urgent; only a policy that orders by priority looks at it.
    """

    request_id: str
    prompt: Prompt
    params: SamplingParams
    priority: int = 0
