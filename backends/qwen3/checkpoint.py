"""The safetensors files of a model folder, read slice by slice."""

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from backends.qwen3.errors import ModelError

_INDEX = "model.safetensors.index.json"
_READABLE = {"F32", "F16", "BF16"}


class Checkpoint:
    """All tensors of a folder, in one file or in many with an index. A context manager: files stay mapped inside.

    Args:
        folder: a Hugging Face model folder.

    Raises:
        ModelError: no weights, a file is missing or cut, a tensor is in two files, or index and files disagree.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._files: dict[str, tuple[str, Any]] = {}  # tensor -> file name, open file
        try:
            self._open(folder)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> "Checkpoint":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def names(self) -> set[str]:
        """Names of all tensors."""
        return set(self._files)

    def name_of_file(self, key: str) -> str:
        """Path of the file that holds `key`."""
        return str(self._folder / self._files[key][0])

    def read(self, key: str, shape: tuple[int, ...], dim: int, start: int, length: int) -> torch.Tensor:
        """Entries start .. start + length of a tensor along its first or second dimension, on the CPU.

        Args:
            key: name of a tensor that exists.
            shape: that the whole tensor must have.
            dim: 0 or 1.
            start: first entry.
            length: number of entries.

        Raises:
            ModelError: the tensor has another shape, or a type that is no plain float.
        """
        tensor = self._files[key][1].get_slice(key)
        found, dtype = tuple(tensor.get_shape()), tensor.get_dtype()
        where = f"{self.name_of_file(key)}: tensor {key}"
        if found != shape:
            raise ModelError(
                f"{where} has shape {found}, but config.json asks for {shape}; config and weights must be of the "
                f"same model."
            )
        if dtype not in _READABLE:
            raise ModelError(f"{where} has type {dtype}; only {', '.join(sorted(_READABLE))} weights can be loaded.")
        part = slice(start, start + length)
        return tensor[part] if dim == 0 else tensor[:, part]

    def _open(self, folder: Path) -> None:
        index = folder / _INDEX
        if index.exists():
            weight_map = _read_weight_map(index)
            for name in sorted(set(weight_map.values())):
                self._add(name)
            self._check_index(index, weight_map)
            return
        names = sorted(path.name for path in folder.glob("*.safetensors"))
        if not names:
            raise ModelError(
                f"{folder} holds no *.safetensors file; download the weights, or use random ones (load format dummy)."
            )
        for name in names:
            self._add(name)

    def _add(self, name: str) -> None:
        path = self._folder / name
        if not path.is_file():
            is_there = path.is_symlink() or path.exists()
            problem = "a broken link or a folder" if is_there else f"missing, though {_INDEX} names it"
            raise ModelError(f"{path} is {problem}; download it again.")
        try:
            file = self._stack.enter_context(safe_open(str(path), framework="pt", device="cpu"))
        except (SafetensorError, OSError) as error:
            raise ModelError(f"{path} is cut or no safetensors file ({error}); download it again.") from None
        for key in file.keys():  # noqa: SIM118 - not a dict
            if key in self._files:
                raise ModelError(f"{path}: tensor {key} is also in {self.name_of_file(key)}; remove one of the files.")
            self._files[key] = (name, file)

    def _check_index(self, index: Path, weight_map: dict[str, str]) -> None:
        for key, name in weight_map.items():
            if self._files.get(key, (None,))[0] != name:
                raise ModelError(f"{index} says that tensor {key} is in {name}, but it is not; download both again.")
        for key in self._files.keys() - weight_map.keys():
            raise ModelError(f"{self.name_of_file(key)}: tensor {key} is not in {_INDEX}; download both again.")


def _read_weight_map(index: Path) -> dict[str, str]:
    try:
        weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        return {str(key): str(name) for key, name in weight_map.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{index} has no readable weight_map ({error!r}); download it again.") from None
