"""Prints what a profile holds."""

import sys

import numpy as np
from rich.table import Table

from analysis.console import table_console
from sim.profiling.profile_file import Profile
from sim.profiling.spread import Spread


def profile_table(profile: Profile) -> None:
    """One line for each family of loads: steps, time, and how much equal steps differ."""
    columns, meta = profile.columns, profile.meta
    families = np.array([load["family"] for load in meta["loads"]])
    of_step = families[columns["load"].astype(np.int64)]
    is_measured = columns["is_warm_up"] == 0
    table = Table(title=f"{meta['settings']['model']} on {meta['hardware']['gpu']}, {meta['seconds']:.0f} s")
    for name in ("family", "steps", "seconds", "cases", "repeats", "p10 to p90, %"):
        table.add_column(name, justify="left" if name == "family" else "right")
    cases = [Spread(*values) for values in meta["spreads"]]
    for family in dict.fromkeys(families.tolist()):
        rows = is_measured & (of_step == family)
        of_family = [case for case in cases if families[case.load] == family]
        repeats = [case.num_repeats for case in of_family]
        widths = [100 * case.relative for case in of_family]
        table.add_row(
            family,
            f"{rows.sum():,}",
            f"{columns['duration_s'][of_step == family].sum():.1f}",
            str(len(of_family)),
            f"{np.median(repeats):.0f}" if repeats else "-",
            f"{np.median(widths):.1f}" if widths else "-",
        )
    console = table_console(sys.stdout)
    console.print(table)
    if meta["skipped"]:
        console.print(f"{len(meta['skipped'])} of {len(families)} loads did not run, or not to their end: time was up.")
