"""The part of a model that one GPU holds."""

from dataclasses import dataclass

from backends.simulated.model_sheet import ModelSheet
from engine.errors import SettingError


@dataclass(frozen=True, slots=True)
class Projection:
    """One weight matrix of a layer, or the head, as one GPU holds it: `num_in` x `num_out`."""

    num_in: int
    num_out: int

    @property
    def num_weights(self) -> int:
        """Elements of the matrix."""
        return self.num_in * self.num_out


class ModelShard:
    """A model split over `tp` GPUs by heads and by columns, seen from one of them (all are alike).

    Key/value heads are replicated where there are fewer of them than GPUs; norms are on every GPU; the vocabulary is
    padded to a multiple of `tp`.

    Args:
        model: the whole model.
        tp: tensor-parallel degree, the number of GPUs.

    Raises:
        SettingError: the model cannot be split into so many parts.
    """

    def __init__(self, model: ModelSheet, tp: int) -> None:
        _check_divides(model, tp)
        self.model = model
        self.tp = tp
        self.num_heads = model.num_heads // tp
        self.num_kv_heads = max(model.num_kv_heads // tp, 1)
        self.query_width = self.num_heads * model.head_dim
        self.kv_width = self.num_kv_heads * model.head_dim
        self.intermediate_size = model.intermediate_size // tp
        self.vocab_size = -(-model.vocab_size // tp)
        self.qkv = Projection(model.hidden_size, self.query_width + 2 * self.kv_width)
        self.output = Projection(self.query_width, model.hidden_size)
        self.gate_up = Projection(model.hidden_size, 2 * self.intermediate_size)
        self.down = Projection(self.intermediate_size, model.hidden_size)
        self.head = Projection(model.hidden_size, self.vocab_size)

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of one token's keys and values in all layers."""
        return 2 * self.model.num_layers * self.kv_width * self.model.dtype_bytes

    @property
    def layer_weights(self) -> int:
        """Weights of the matrices of one layer."""
        return sum(projection.num_weights for projection in (self.qkv, self.output, self.gate_up, self.down))

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights on this GPU."""
        model = self.model
        norms = 2 * model.hidden_size + (2 * model.head_dim if model.has_qk_norm else 0)
        layers = model.num_layers * (self.layer_weights + norms)
        vocab = self.head.num_weights * (1 if model.has_tied_embeddings else 2)
        return (layers + model.hidden_size + vocab) * model.dtype_bytes


def _check_divides(model: ModelSheet, tp: int) -> None:
    if tp < 1:
        raise SettingError(f"The tensor-parallel degree is {tp}; it must be at least 1.")
    for what, count in (("query heads", model.num_heads), ("MLP columns", model.intermediate_size)):
        if count % tp:
            raise SettingError(
                f"{model.name} has {count} {what}, which {tp} GPUs cannot share evenly; use another --tp."
            )
    if model.num_kv_heads % tp and tp % model.num_kv_heads:
        raise SettingError(
            f"{model.name} has {model.num_kv_heads} key/value heads; --tp must divide them or be a multiple of them, "
            f"and {tp} is neither."
        )
