from dataclasses import astuple, fields

import pytest

from backends.errors import SheetError
from backends.simulated.gpu_sheet import load_gpu_sheet

# Memory in GB as sold, dense bf16 TFLOP/s, bandwidth in GB/s, link in GB/s and direction: the data sheets.
DATASHEETS = {
    "H200": (141, 989.4, 4800, 450),
    "H100": (80, 989.4, 3350, 450),
    "A100-80": (80, 312, 2039, 300),
    "L40S": (48, 362.05, 864, 32),
    "RTX 4090": (24, 165.2, 1008, 32),
    "B200": (180, 2250, 8000, 900),
}


@pytest.mark.parametrize(("name", "datasheet"), DATASHEETS.items())
def test_sheets_hold_the_data_sheet_peaks(name: str, datasheet: tuple[float, ...]) -> None:
    gpu = load_gpu_sheet(name)
    memory_gb, tflops, bandwidth_gb, link_gb = datasheet
    assert gpu.name == name
    assert gpu.flops_per_s == tflops * 1e12
    assert gpu.memory_bytes_per_s == bandwidth_gb * 1e9
    assert gpu.link_bytes_per_s == link_gb * 1e9
    assert memory_gb * 0.98e9 < gpu.memory_bytes < memory_gb * 2**30


def test_the_h200_reaches_the_measured_ceilings() -> None:
    gpu = load_gpu_sheet("h200")
    assert gpu.flops_per_s * gpu.achieved.matmul == pytest.approx(790e12, rel=0.002)
    assert gpu.memory_bytes_per_s * gpu.achieved.memory == pytest.approx(4.3e12, rel=0.002)


@pytest.mark.parametrize("name", DATASHEETS)
def test_times_are_of_the_order_of_what_they_stand_for(name: str) -> None:
    gpu = load_gpu_sheet(name)
    assert all(0.4 <= fraction <= 1 for fraction in astuple(gpu.achieved))
    assert all(1e-6 < seconds < 1e-4 for seconds in astuple(gpu.overheads))
    assert all(1e-9 < seconds < 1e-3 for seconds in astuple(gpu.host))
    assert {field.name[-2:] for field in (*fields(gpu.overheads), *fields(gpu.host))} == {"_s"}


@pytest.mark.parametrize("name", ["rtx4090", "RTX-4090", "rtx 4090", "a100-80", "A100_80"])
def test_names_are_read_as_people_write_them(name: str) -> None:
    assert load_gpu_sheet(name).name in {"RTX 4090", "A100-80"}


def test_an_unknown_gpu_lists_the_known_ones() -> None:
    with pytest.raises(
        SheetError, match=r"^Unknown GPU 'V100'; known are A100-80, B200, H100, H200, L40S, RTX 4090, or give a sheet"
    ):
        load_gpu_sheet("V100")
