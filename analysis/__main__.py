"""Command line: `python -m analysis report|compare|why|timeline|import-vllm`."""

import io
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from analysis.errors import AnalysisError

# Each command imports what it needs when it runs: Arrow and numpy would make --help slow.
app = typer.Typer(
    name="analysis",
    help="Read run directories: what a run measured, how two runs differ, and what happened to one request.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="Run directory, finished or not.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Run directories, finished or not, and folders of sweeps.")
    ],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with figures that opens offline; - for stdout.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="FILE", help="Write Markdown tables; - for stdout.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a row a run as CSV; - for stdout.")] = None,
    slo: Annotated[
        str | None, typer.Option(help="Limits such as ttft=500ms,tpot=50ms; those of the run if left out.")
    ] = None,
    warmup: Annotated[str | None, typer.Option(help="What the steady-state window leaves out, such as 60s.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Print the figures of runs and sweeps, computed from their tables, or write them as HTML, Markdown or CSV."""
    from analysis.duration import parse_duration
    from analysis.reporting.outputs import Outputs
    from analysis.reporting.printed import print_report, values_of
    from analysis.reporting.report_content import ReportContent
    from analysis.slo import Slo

    outputs = Outputs(html, markdown, csv)
    outputs.check(is_stdout_taken=as_json)
    limits, warmup_s = None if slo is None else Slo.parse(slo), None if warmup is None else parse_duration(warmup)
    content = ReportContent.of(runs, limits, warmup_s)
    if outputs.are_any:
        for sentence in outputs.write(content):
            sys.stderr.write("" if quiet else f"{sentence}\n")
    if as_json:
        sys.stdout.write(_json(values_of(content)))
    elif not outputs.are_any:
        print_report(content, sys.stdout)


@app.command()
def compare(
    run: Annotated[Path, typer.Argument(metavar="A", help="Run directory to judge by, such as of a GPU.")],
    other: Annotated[Path, typer.Argument(metavar="B", help="Run directory to judge, such as of a simulation.")],
    spread: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN", help="Another run of A's trace on A's machine; differences below theirs are noise."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print how far one run is from another.

    Metrics, latencies request by request, step times by class, load over time, and decisions.
    """
    from analysis.comparison import compare as compare_runs
    from analysis.comparison_table import print_comparison
    from analysis.run import load

    comparison = compare_runs(load(run), load(other), [load(path) for path in spread or ()])
    if as_json:
        sys.stdout.write(_json(comparison.as_dict()))
    else:
        print_comparison(comparison, sys.stdout)


@app.command()
def why(
    run: RunPath,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="request_id.")],
    as_json: AsJson = False,
) -> None:
    """Tell what happened to one request, and what it waited for.

    Times count from its arrival.
    """
    from analysis.run import load
    from analysis.story import tell

    story = tell(load(run), request)
    sys.stdout.write(_json(story.as_dict()) if as_json else story.render())


@app.command()
def timeline(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories, finished or not.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to make: NAME.json, or NAME.json.gz.")],
    requests: Annotated[
        str | None, typer.Option(help="Only these, by position in the trace, such as 0-99. [all]", show_default=False)
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="Leave out what ends before, such as 60s.", show_default=False)
    ] = None,
    end: Annotated[
        str | None, typer.Option(help="Leave out what begins later, such as 90s.", show_default=False)
    ] = None,
) -> None:
    """Draw runs over time, in a file for ui.perfetto.dev.

    Requests with their phases, steps, and how many run and wait; several runs stand side by side on one clock.
    """
    from analysis.duration import parse_duration
    from analysis.run import load
    from analysis.timeline import write_timeline
    from analysis.timeline_window import TimelineWindow

    start_s, end_s = (None if text is None else parse_duration(text) for text in (start, end))
    drawn = write_timeline([load(run) for run in runs], output, TimelineWindow.of(requests, start_s, end_s))
    for each in drawn:
        sys.stdout.write(f"{output}: {each.name}: {each.text}\n")


@app.command("import-vllm")
def import_vllm(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="File of vllm bench serve --save-detailed.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Run directory to make.")],
    quiet: Quiet = False,
) -> None:
    """Make a run directory of a result of `vllm bench serve`.

    To report it, compare it, and replay the same requests.
    """
    from analysis.run_writer import check_vacant
    from analysis.vllm_import import import_vllm as import_result

    check_vacant(output)
    imported = import_result(result, output)
    for notice in () if quiet else imported.notices:
        sys.stderr.write(f"note: {notice}\n")
    summary = imported.summary
    sys.stdout.write(f"{output}: {summary['completed']} requests finished, {summary['failed']} failed\n")
    if imported.has_trace:
        sys.stdout.write(f"replay them: python -m sim replay {imported.path / 'trace.jsonl.zst'}\n")


def _json(value: object) -> str:
    # ASCII alone, so that it is JSON in whatever encoding stdout has.
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def main() -> None:
    """Runs the command line; what a user can cause ends as one sentence on stderr and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # request ids may hold what the terminal cannot show
    try:
        app()
    except AnalysisError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except BrokenPipeError:
        raise  # nobody reads any more; typer ends quietly before this
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        sys.stderr.write(f"error: {place}{error.strerror or error}.\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
