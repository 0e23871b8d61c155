from collections.abc import Callable, Iterator

from benchmarks.gpu_checks.case import Case, NotHereError, Verdict, run_cases


def raises(error: Exception) -> Callable[[], Verdict]:
    def run() -> Verdict:
        raise error

    return run


def test_each_case_has_its_outcome_whatever_the_others_do() -> None:
    cases = [
        Case("good", lambda: Verdict(True, {"error": 0.12345678, "rows": 7})),
        Case("wrong", lambda: Verdict(False, {})),
        Case("broken", raises(RuntimeError("CUDA error\nmany lines"))),
        Case("elsewhere", raises(NotHereError("skipped: needs CUDA"))),
        Case("last", lambda: Verdict(True, {})),
    ]
    outcomes = list(run_cases("group", lambda: cases))
    assert [outcome.status for outcome in outcomes] == ["PASS", "FAIL", "ERROR", "SKIP", "PASS"]
    assert outcomes[0].line() == "PASS  group/good (0.0 s)  error=0.1235 rows=7"
    assert outcomes[2].message.startswith("RuntimeError: CUDA error many lines [run:")
    assert outcomes[3].line() == "SKIP  group/elsewhere (0.0 s)  skipped: needs CUDA"


def test_an_error_while_cases_are_made_is_an_outcome() -> None:
    def cases() -> Iterator[Case]:
        yield Case("good", lambda: Verdict(True, {}))
        raise ValueError("no")

    outcomes = list(run_cases("group", cases))
    assert [(outcome.name, outcome.status) for outcome in outcomes] == [("good", "PASS"), ("cases", "ERROR")]
