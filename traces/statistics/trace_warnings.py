"""What is odd about a trace."""

from collections.abc import Iterator

from traces.load_notice import rate_doubt
from traces.statistics.arrival_counts import ArrivalSummary
from traces.statistics.length_counts import LengthSummary
from traces.statistics.trace_profile import TraceProfile

MIN_REQUESTS = 20
"""With fewer, shares say little."""
TIED_SHARE = 0.05
EQUAL_SHARE = 0.2
PILED_UP_SHARE = 0.01
SILENT_SHARE = 0.25


def trace_warnings(profile: TraceProfile, max_model_len: int | None) -> tuple[str, ...]:
    """Return a sentence for each thing that makes a replay of the trace misleading.

    Args:
        profile: the figures.
        max_model_len: of the model that is meant, if one is.
    """
    return (
        *_about_drops(profile),
        *_about_length(profile, max_model_len),
        *arrival_warnings(profile.arrivals),
        *_about_equal_lengths("prompts", profile.inputs, profile.num_requests),
        *_about_equal_lengths("outputs", profile.outputs, profile.num_requests),
    )


def _about_drops(profile: TraceProfile) -> Iterator[str]:
    for reason, num in profile.dropped.items():
        yield f"{num:,} rows are not replayed because {reason}."


def _about_length(profile: TraceProfile, max_model_len: int | None) -> Iterator[str]:
    if profile.num_over_length:
        share = 100 * profile.num_over_length / profile.num_requests
        yield (
            f"{profile.num_over_length:,} requests ({share:.2g} %) are longer than {max_model_len:,} tokens, prompt "
            "and output together; a replay cuts their outputs, and fails or truncates longer prompts (--oversize)."
        )


def arrival_warnings(arrivals: ArrivalSummary) -> Iterator[str]:
    """Yield a sentence for each thing that is odd about arrivals."""
    if arrivals.num > 1 and arrivals.rate is None:
        yield "All requests arrive at one time; a replay measures how long a batch takes, not a service under load."
    elif arrivals.rate is not None:
        yield from rate_doubt(arrivals.rate, arrivals.span_s)
        yield from spacing_warnings(arrivals)


def spacing_warnings(arrivals: ArrivalSummary) -> Iterator[str]:
    """Yield a sentence for each thing that is odd about the gaps between arrivals that do not all come at once."""
    if arrivals.num < MIN_REQUESTS or arrivals.rate is None:
        return
    if arrivals.num_tied >= TIED_SHARE * arrivals.num:
        share = 100 * arrivals.num_tied / arrivals.num
        yield (
            f"{arrivals.num_tied:,} arrivals ({share:.3g} %) have the same time as another; different times lie at "
            f"least {arrivals.shortest_gap_s:.7g} s apart, so arrivals seem to be rounded and a replay has bursts "
            "that were not there (--spread-ties of convert)."
        )
    if arrivals.longest_gap_s is not None and arrivals.longest_gap_s >= SILENT_SHARE * arrivals.span_s:
        yield (
            f"Nothing arrives for {arrivals.longest_gap_s:,.0f} of {arrivals.span_s:,.0f} s: the mean rate says "
            "little; choose a window (--start, --end)."
        )


def _about_equal_lengths(noun: str, lengths: LengthSummary, num_requests: int) -> Iterator[str]:
    if num_requests < MIN_REQUESTS:
        return
    share = 100 * lengths.most_common_share
    if lengths.most_common_share >= EQUAL_SHARE:
        yield f"{share:.3g} % of {noun} have exactly {lengths.most_common:,} tokens: synthetic, or cut at a limit?"
    elif lengths.at_max_share >= PILED_UP_SHARE and lengths.at_max_share * num_requests >= MIN_REQUESTS:
        share = 100 * lengths.at_max_share
        yield f"{share:.3g} % of {noun} have the longest length, {lengths.max:,} tokens: they seem to be cut there."
