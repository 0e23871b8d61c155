import json

import pytest

from backends.qwen3.errors import ModelError
from backends.qwen3.tokenizer import HFTokenizer
from engine import RequestError
from tests.qwen3.tiny_tokenizer import TEXTS, save_tokenizer

END, IM_END = 0, 2


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    save_tokenizer(folder, end_ids=[IM_END, END])
    return HFTokenizer.from_folder(folder)


@pytest.mark.parametrize("text", [*TEXTS, "", " leading", "newline\n\n", "🙂🙂"])
def test_text_survives_the_round_trip(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", [*TEXTS, "ümläut 🇩🇪 漢字"])
def test_pieces_add_up_and_never_split_a_character(tokenizer, text):
    token_ids = tokenizer.encode(text)
    assert len(token_ids) > len(text.split())  # some tokens are parts of characters or words
    decoder = tokenizer.decoder()
    pieces = [*(decoder.add(token_id) for token_id in token_ids), decoder.finish()]
    assert "".join(pieces) == text
    assert not any("\ufffd" in piece for piece in pieces)


def test_special_tokens_count_as_such_and_leave_no_text(tokenizer):
    token_ids = tokenizer.encode("the end<|im_end|>")
    assert token_ids[-1] == IM_END
    assert tokenizer.decode(token_ids) == "the end"


def test_chat_ends_where_the_answer_begins(tokenizer):
    text = tokenizer.chat([{"role": "user", "content": "the cat"}])
    assert text == "<|im_start|>user\nthe cat<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("messages", ["the cat", None, ["the cat"], []])
def test_messages_that_are_none_are_refused(tokenizer, messages):
    with pytest.raises(RequestError, match=r"The chat template cannot lay out .*; give a list of messages such as"):
        tokenizer.chat(messages)


def test_a_model_without_chat_template_says_so(tmp_path):
    save_tokenizer(tmp_path, chat_template=None)
    with pytest.raises(ModelError, match="has no chat template"):
        HFTokenizer.from_folder(tmp_path).chat([{"role": "user", "content": "x"}])


@pytest.mark.parametrize(
    ("generation", "config", "expected"),
    [
        ([IM_END, END], None, {IM_END, END}),
        (END, None, {IM_END, END}),
        (None, END, {IM_END, END}),
        (END, 5, {IM_END, END}),
        (None, None, {IM_END}),
    ],
)
def test_end_ids_are_all_that_the_folder_names(tmp_path, generation, config, expected):
    save_tokenizer(tmp_path, end_ids=generation)
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps({"eos_token_id": config, "model_type": "qwen3"}))
    assert HFTokenizer.from_folder(tmp_path).end_token_ids == expected


@pytest.mark.parametrize("value", ["two", [1, None]])
def test_end_ids_that_are_no_ids_are_refused(tmp_path, value):
    save_tokenizer(tmp_path, end_ids=value)
    with pytest.raises(ModelError, match="must be a token id"):
        HFTokenizer.from_folder(tmp_path)


def test_a_broken_generation_config_is_refused(tmp_path):
    save_tokenizer(tmp_path)
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(ModelError, match=r"generation_config\.json is not readable"):
        HFTokenizer.from_folder(tmp_path)


def test_a_folder_without_tokenizer_has_none(tmp_path):
    assert HFTokenizer.from_folder(tmp_path) is None


def test_broken_tokenizer_files_are_refused(tmp_path):
    save_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": ')
    with pytest.raises(ModelError, match="no readable tokenizer"):
        HFTokenizer.from_folder(tmp_path)


def test_a_vocabulary_larger_than_the_models_is_refused(tokenizer):
    tokenizer.check_vocabulary(300)
    with pytest.raises(ModelError, match="has token id 299 and the model knows 0 to 298"):
        tokenizer.check_vocabulary(299)


def test_a_token_id_beyond_the_models_is_refused_however_few_tokens_there_are(tmp_path):
    save_tokenizer(tmp_path)
    path = tmp_path / "tokenizer.json"
    values = json.loads(path.read_text())
    values["added_tokens"].append(values["added_tokens"][-1] | {"id": 500, "content": "<|far|>"})
    values["model"]["vocab"]["<|far|>"] = 500
    path.write_text(json.dumps(values))
    tokenizer = HFTokenizer.from_folder(tmp_path)

    tokenizer.check_vocabulary(501)
    with pytest.raises(ModelError, match="has token id 500 and the model knows 0 to 399"):
        tokenizer.check_vocabulary(400)
