"""All captured graphs of a rank."""

from backends.graph_table import GraphTable
from backends.qwen3.decode_graphs import DecodeGraphs
from backends.qwen3.mixed_graphs import MixedGraphs
from backends.qwen3.prepared_step import PreparedStep
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.step_layout import StepLayout


class StepGraphs:
    """Finds the graph that a step runs in.

    Args:
        table: the rule.
        rows: tokens and blocks of live sequences.
        decode: graphs of decode steps, of all sizes of the table.
        mixed: graphs of steps with chunks, likewise; None if the table has none.

    Attributes:
        table: as given.
    """

    def __init__(self, table: GraphTable, rows: SequenceRows, decode: DecodeGraphs, mixed: MixedGraphs | None) -> None:
        assert bool(mixed) == bool(table.mixed_sizes), "graphs and table differ"
        self.table = table
        self._rows = rows
        self._decode = decode
        self._mixed = mixed
        self._foreseeable: int | None = None
        """Size of the graph that the last step was prepared for, if the next one can be foreseen."""

    def prepare(self, command: StepCommand, sampling: SamplingRows | None) -> PreparedStep | None:
        """Send the inputs of a step to the device if it has a graph; None = it must run eager.

        Args:
            command: the step, already applied to the rows.
            sampling: how sequences are sampled; None on a rank that does not sample.
        """
        self._foreseeable = None
        if command.num_tokens.max() == 1:
            return self._prepare_decode(command, sampling)
        self._decode.forget()
        if self._mixed is None or command.num_tokens.sum() > self.table.mixed_sizes[-1]:
            return None
        layout = StepLayout(command, self._rows)
        num_chunk_tokens = layout.num_tokens - layout.num_decodes
        size = self.table.size_of(layout.num_decodes, layout.num_chunks, num_chunk_tokens)
        return None if size is None else self._mixed.prepare(command, layout, size, sampling)

    def foresee(self, command: StepCommand, sampling: SamplingRows | None) -> None:
        """Begin to prepare the step that follows, while the device works on `command`, the last one prepared."""
        if self._foreseeable is not None:
            self._decode.foresee(command, self._foreseeable, sampling)

    def _prepare_decode(self, command: StepCommand, sampling: SamplingRows | None) -> PreparedStep | None:
        size = self.table.size_of(command.num_rows, 0, 0)
        prepared = None if size is None else self._decode.prepare(command, size, sampling)
        if prepared is None:
            self._decode.forget()
        else:
            self._foreseeable = size
        return prepared

    def close(self) -> None:
        """Let go of all graphs; see `DecodeGraphs.close`."""
        self._decode.close()
        if self._mixed is not None:
            self._mixed.close()
