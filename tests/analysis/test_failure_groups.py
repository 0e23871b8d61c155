from analysis.failure_groups import count_by_reason


def test_numbers_that_differ_become_a_range_and_others_stay() -> None:
    reasons = [
        f"The prompt of 'r{k}' has {tokens} tokens; it must be shorter than max_model_len, 512."
        for k, tokens in enumerate(["1,100", "600", "9000"])
    ]
    assert count_by_reason(reasons) == {
        "The prompt of '...' has 600 to 9000 tokens; it must be shorter than max_model_len, 512.": 3
    }


def test_a_reason_alone_or_repeated_stays_as_it_is() -> None:
    assert count_by_reason(["prompt of 1,024 tokens, limit 512"]) == {"prompt of 1,024 tokens, limit 512": 1}
    assert count_by_reason(["no blocks"] * 3) == {"no blocks": 3}


def test_different_sentences_stay_apart_in_order() -> None:
    found = count_by_reason(["a 1 b", None, "c", "a 2 b", ""])
    assert list(found.items()) == [("a 1 to 2 b", 2), ("unknown", 2), ("c", 1)]


def test_numbers_that_are_no_numbers_do_not_stop_it() -> None:
    assert count_by_reason(["at 1.2.3", "at 1.2.4"]) == {"at 1.2.3 to 1.2.4": 2}
