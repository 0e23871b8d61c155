"""Which attention a check runs."""

from dataclasses import dataclass
from typing import Literal

DtypeName = Literal["bfloat16", "float16", "float32"]


@dataclass(frozen=True, slots=True)
class AttentionKind:
    """An attention by name, with the block size and dtype to run it in; loads no torch."""

    name: str
    block_size: int
    dtype_name: DtypeName = "bfloat16"

    def __str__(self) -> str:
        """For the names of cases."""
        return f"{self.name} block {self.block_size} {self.dtype_name}"
