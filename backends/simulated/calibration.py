"""A fitted cost model with what it was fitted to, and how well."""

from collections.abc import Mapping
from dataclasses import dataclass

from backends.simulated.envelope import Envelope
from backends.simulated.fitted_times import FittedTimes

Fact = str | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedSettings:
    """The engine whose steps were measured.

    Attributes:
        model: name of its sheet.
        gpu: name of its sheet, or as the GPU calls itself if there is none.
        tp: tensor-parallel degree.
        block_size: tokens in a KV block.
        dtype: of weights and cache.
        attention: kernels, by name; "unknown" if the data do not say.
        max_model_len: longest sequence.
    """

    model: str
    gpu: str
    tp: int
    block_size: int
    dtype: str
    attention: str
    max_model_len: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassError:
    """Error of predicted step times on steps of one class that were left out of the fit.

    Attributes:
        num_steps: steps left out.
        bias_percent: predicted time of all of them together, over the measured one, less 100 %.
        mean_error_percent: mean of the steps' own absolute errors; it holds the noise of single steps too.
    """

    num_steps: int
    bias_percent: float
    mean_error_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was fitted to.

    Attributes:
        name: of the file or directory.
        kind: "profile" or "run".
        num_steps: steps used.
        seconds: their time.
    """

    name: str
    kind: str
    num_steps: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All of it.

    Attributes:
        settings: of the engine.
        hardware: what it ran on.
        versions: of the software.
        sources: data.
        errors: on steps left out of a fit to the others, by class; "all" holds all classes.
        envelope: step shapes measured.
        times: the numbers, fitted to all steps.
    """

    settings: CalibratedSettings
    hardware: Mapping[str, Fact]
    versions: Mapping[str, str]
    sources: tuple[Source, ...]
    errors: Mapping[str, ClassError]
    envelope: Envelope
    times: FittedTimes

    @property
    def summary(self) -> str:
        """One clause for reports."""
        settings = self.settings
        hardware = f"{settings.tp} x {settings.gpu}" if settings.tp > 1 else settings.gpu
        if "all" not in self.errors:
            return f"calibrated on {hardware}, no steps held out"
        return f"calibrated on {hardware}, held-out error {self.errors['all'].mean_error_percent:.1f} %"
