"""The simulated backend: sheets of models and GPUs, cost models made of them or fitted, the backend that uses one."""

from backends.simulated.fitted_model import FittedModel
from backends.simulated.gpu_sheet import GpuSheet, load_gpu_sheet
from backends.simulated.kv_capacity import check_utilization, num_kv_blocks
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import ModelSheet, load_model_sheet
from backends.simulated.roofline import RooflineModel
from backends.simulated.simulated_backend import SimulatedBackend
from backends.simulated.term import Term

__all__ = [
    "FittedModel",
    "GpuSheet",
    "ModelShard",
    "ModelSheet",
    "RooflineModel",
    "SimulatedBackend",
    "Term",
    "check_utilization",
    "load_gpu_sheet",
    "load_model_sheet",
    "num_kv_blocks",
]
