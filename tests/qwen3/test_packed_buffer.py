import numpy as np
import pytest
import torch

from backends.qwen3.packed_buffer import FieldSpec, PackedBuffer

SPECS = [FieldSpec("a", np.int64, (3,)), FieldSpec("b", np.int32, (2, 5)), FieldSpec("c", np.float32, (0,))]


def test_fields_are_typed_views_that_do_not_overlap():
    buffer = PackedBuffer(1024, torch.device("cpu"))
    fields = buffer.lay_out([*SPECS, FieldSpec("d", np.float32, (4,))])
    for number, field in enumerate(fields.values()):
        field.host[:] = number
    buffer.upload(1024)
    assert fields["a"].device.tolist() == [0, 0, 0]
    assert fields["b"].device.tolist() == [[1] * 5] * 2
    assert fields["c"].device.tolist() == []
    assert fields["d"].device.tolist() == [3] * 4
    assert fields["d"].device.dtype == torch.float32


def test_fields_begin_at_multiples_of_64_bytes():
    fields = PackedBuffer(1024, torch.device("cpu")).lay_out(SPECS)
    assert [field.device.data_ptr() % 64 for field in fields.values()] == [0, 0, 0]
    assert fields["b"].end == 64 + 40


def test_fields_that_do_not_fit_are_our_fault():
    with pytest.raises(AssertionError, match="do not fit"):
        PackedBuffer(64, torch.device("cpu")).lay_out(SPECS)
