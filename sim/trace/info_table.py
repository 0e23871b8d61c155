"""What a trace is like, as text."""

from collections.abc import Iterator
from typing import TextIO

from rich.console import Console
from rich.table import Table

from sim.trace.trace_portrait import Portrait
from traces.statistics.arrival_counts import ArrivalSummary
from traces.statistics.length_counts import LengthSummary
from traces.statistics.prefix_reuse import CacheReuse, ReuseSummary
from traces.statistics.session_counts import SessionSummary


def print_portrait(portrait: Portrait, file: TextIO) -> None:
    """Print figures, then notes and warnings; colour codes only on a terminal."""
    # Wide, as a table that is cut says less than one that wraps.
    console = Console(file=file, highlight=False, markup=False, soft_wrap=True, width=1000)
    profile = portrait.profile
    console.print(str(portrait.path), style="bold")
    for notice in portrait.facts.notices:
        console.print(f"  {notice}")
    console.print(f"\n{profile.num_requests:,} requests. {_load(profile.arrivals)}")
    for line in (*_burstiness(profile.arrivals), *_sessions(profile.sessions)):
        console.print(line)
    console.print()
    console.print(_lengths(profile.inputs, profile.outputs))
    console.print()
    if profile.reuse is None:
        console.print("Prefix reuse: the trace does not say what prompts hold, so none is known.")
    else:
        console.print(_reuse_title(profile.reuse))
        console.print(_reuse(profile.reuse))
    for warning in profile.warnings:
        console.print(f"Warning: {warning}", style="yellow")
    console.print()


def _load(arrivals: ArrivalSummary) -> str:
    if arrivals.rate is None:
        return f"{arrivals.num:,} arrive at one time, {arrivals.first_s:,.3f} s."
    return f"{arrivals.num:,} arrive over {arrivals.span_s:,.3f} s, {arrivals.rate:.4g} a second."


def _burstiness(arrivals: ArrivalSummary) -> Iterator[str]:
    if arrivals.cv is not None:
        yield (
            f"Gaps between arrivals: coefficient of variation {arrivals.cv:.3g} (Poisson: 1), longest "
            f"{arrivals.longest_gap_s:,.4g} s; {arrivals.num_tied:,} arrivals at the time of another."
        )
    windows = ", ".join(
        f"{each.index:.3g} in {each.window_s:,} s (at most {each.max:,})" for each in arrivals.dispersion
    )
    if windows:
        yield f"Arrivals in a window, variance over mean (Poisson: 1): {windows}."


def _sessions(sessions: SessionSummary) -> Iterator[str]:
    if not sessions.num:
        return
    yield (
        f"{sessions.num:,} sessions of {sessions.mean_turns:.3g} turns in the mean, {sessions.p50_turns:g} in the "
        f"median, at most {sessions.max_turns:,}; {sessions.num_single:,} requests without one."
    )
    delays = ""
    if sessions.mean_delay_s is not None:
        delays = f"; delays of {sessions.mean_delay_s:,.4g} s in the mean, at most {sessions.max_delay_s:,.4g} s"
    open_, closed = 100 * sessions.open_request_share, 100 * sessions.closed_request_share
    yield f"Open / closed loop: {open_:.1f} / {closed:.1f} % of requests{delays}."


def _table(*headings: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="right" if position else "left", no_wrap=True)
    return table


def _lengths(inputs: LengthSummary, outputs: LengthSummary) -> Table:
    table = _table("tokens", "mean", "min", "p50", "p90", "p99", "max", "total")
    for name, each in (("prompt", inputs), ("output", outputs)):
        figures = (each.min, each.p50, each.p90, each.p99, each.max, each.total)
        table.add_row(name, f"{each.mean:,.1f}", *(f"{figure:,.0f}" for figure in figures))
    return table


def _reuse_title(reuse: ReuseSummary) -> str:
    return (
        f"Prefix reuse, LRU caches of blocks of {reuse.block_size} tokens; {reuse.num_blocks:,} blocks, "
        f"{reuse.num_distinct:,} different ones:"
    )


def _reuse(reuse: ReuseSummary) -> Table:
    table = _table("cache", "blocks", "tokens", "% of blocks", "% of prompt tokens")
    for each in (*reuse.lru, reuse.infinite):
        table.add_row("without end" if each.num_blocks is None else "LRU", *_sizes(each), *_shares(each))
    return table


def _sizes(reuse: CacheReuse) -> tuple[str, str]:
    if reuse.num_blocks is None:
        return "", ""
    return f"{reuse.num_blocks:,}", f"{reuse.num_tokens:,}"


def _shares(reuse: CacheReuse) -> tuple[str, str]:
    return f"{100 * reuse.block_share:.1f}", f"{100 * reuse.token_share:.1f}"
