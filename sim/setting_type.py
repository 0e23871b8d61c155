"""What a value of a setting must be, in words."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def in_words(settings_class: type, name: str) -> str:
    """The type of a setting, as it fits behind "it must be"."""
    return _in_words(get_type_hints(settings_class)[name])


def _in_words(kind: Any) -> str:  # noqa: ANN401  # a type, or what stands for one in an annotation
    if get_origin(kind) in (Union, UnionType):  # X or None
        return _in_words(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        return "a list of whole numbers"
    return _WORDS[kind]
