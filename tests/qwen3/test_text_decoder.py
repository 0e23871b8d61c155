import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.qwen3.text_decoder import TextDecoder


def decode_bytes(token_ids):
    """Tokens that are bytes: the hardest tokenizer."""
    return bytes(token_ids).decode("utf-8", errors="replace")


def decode_words(token_ids):
    """Tokens that are words with a space between, as of tokenizers that strip it from the first."""
    return " ".join(["ab", "c", "d"][token_id] for token_id in token_ids)


def pieces_of(token_ids, decode):
    decoder = TextDecoder(decode)
    pieces = [decoder.add(token_id) for token_id in token_ids]
    return [*pieces, decoder.finish()]


def test_a_piece_comes_when_its_character_is_complete():
    assert pieces_of("é€a".encode(), decode_bytes) == ["", "é", "", "", "€", "a", ""]


def test_what_is_held_back_comes_at_the_end():
    assert pieces_of(b"a\xe2\x82", decode_bytes) == ["a", "", "", "\N{REPLACEMENT CHARACTER}"]


def test_a_broken_character_is_given_up_as_soon_as_it_is_certain():
    assert pieces_of(b"\xe2a\xff", decode_bytes) == ["", "\N{REPLACEMENT CHARACTER}a", "", "\N{REPLACEMENT CHARACTER}"]


def test_words_keep_their_spaces():
    assert pieces_of([0, 1, 2, 0], decode_words) == ["ab", " c", " d", " ab", ""]


def test_finish_says_nothing_twice():
    decoder = TextDecoder(decode_bytes)
    decoder.add(0xE2)
    assert decoder.finish() == "\N{REPLACEMENT CHARACTER}"
    assert decoder.finish() == ""


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=4), st.text(max_size=4).map(str.encode))).map(b"".join))
def test_pieces_add_up_to_the_whole_text(data):
    assert "".join(pieces_of(data, decode_bytes)) == decode_bytes(data)


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_piece_of_a_good_text_holds_a_broken_character(text):
    assert all(
        "\N{REPLACEMENT CHARACTER}" not in piece
        for piece in pieces_of(text.replace("\ufffd", "").encode(), decode_bytes)
    )


@pytest.mark.parametrize("size", [2000])
def test_the_window_stays_short(size):
    longest = 0

    def decode(token_ids):
        nonlocal longest
        longest = max(longest, len(token_ids))
        return decode_bytes(token_ids)

    pieces_of("aé€".encode() * (size // 6), decode)
    assert longest <= 8
