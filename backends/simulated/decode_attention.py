"""Device time of decode attention with the numbers of a calibration."""

from typing import Generic, NamedTuple

from backends.cost_model import StepColumns, Value, is_absent, is_present, larger, square_root
from backends.simulated.curve import Band, Bands, Curves
from backends.simulated.fitted_times import AttentionTimes
from backends.simulated.shared_reads import shared_reads

_US, _PER_1K = 1e-6, 1e-9


class AttentionRates(NamedTuple, Generic[Value]):
    """What the numbers of rows and the band of the longest context decide.

    Attributes:
        call_s: seconds whatever the contexts.
        even_s: seconds for contexts that are all equal.
        token_s: seconds of each token of all contexts.
        tail_s: seconds of each token of the tail.
        share: rows over those that fill the device, at most 1.
        spread: standard deviations by which the longest contexts that fill the device lie above the mean.
        alone_s: seconds of a row that is alone, whatever its context.
        alone_token_s: seconds of each token of its context.
    """

    call_s: Value
    even_s: Value
    token_s: Value
    tail_s: Value
    share: Value
    spread: Value
    alone_s: Value
    alone_token_s: Value


class DecodeAttention:
    """Of decode rows, alone or beside chunks; see `AttentionTimes`.

    Args:
        times: the numbers.
    """

    def __init__(self, times: AttentionTimes) -> None:
        self.bands = Bands(times.context_limits)
        self._call = Curves(times.rows, times.call_us, is_level_beyond=True)
        self._even = Curves(times.rows, times.even_us, is_level_beyond=True)
        self._token = Curves(times.rows, times.per_1k_tokens_us, is_level_beyond=True)
        self._tail = Curves(times.rows, times.tail_per_1k_us, is_level_beyond=True)
        self._spread = Curves(times.rows, [times.top_spreads], is_level_beyond=True)
        self._full_rows = times.full_rows
        self._saved_rows = times.shared_saving * times.full_rows
        self._share = Curves((0.0, times.full_rows), [(0.0, 1.0)], is_level_beyond=True)

    def rates(self, num_rows: Value, graph_size: Value, band: Band) -> AttentionRates[Value]:
        """What does not depend on the contexts but for their band.

        Args:
            num_rows: decode rows.
            graph_size: size of the graph; 0 = eager.
            band: of the longest context.
        """
        padded, has_rows = larger(num_rows, graph_size), is_present(num_rows)
        one = larger(num_rows - num_rows, 1.0)  # a number or a column, as the rows are
        alone_us = self._call.at(one, band) + self._even.at(one, band)
        tail_us = self._tail.at(one, band) * (1.0 - 1.0 / larger(self._full_rows, 1.0))
        return AttentionRates(
            call_s=has_rows * (self._call.at(padded, band) * _US),
            even_s=has_rows * (self._even.at(padded, band) * _US),
            token_s=self._token.at(padded, band) * _PER_1K,
            tail_s=self._tail.at(padded, band) * _PER_1K,
            share=self._share.at(num_rows),
            spread=self._spread.at(num_rows),
            alone_s=alone_us * _US,
            alone_token_s=(self._token.at(one, band) + tail_us) * _PER_1K,
        )

    def saved(self, steps: StepColumns[Value], rates: AttentionRates[Value]) -> Value:
        """Tokens that are not read again, since another row reads the same block."""
        if is_absent(steps.shared_context):
            return steps.shared_context
        # Rows that start together share; the later ones come when a place is free, each at its own time.
        return shared_reads(steps) * (self._saved_rows * rates.share / larger(steps.num_decode_seqs, 1.0))

    def time(self, steps: StepColumns[Value], rates: AttentionRates[Value], saved: Value) -> Value:
        """Seconds; 0 without decode rows."""
        num_rows, context, squares = larger(steps.num_decode_seqs, 1.0), steps.decode_context, steps.decode_context_sq
        mean = context / num_rows
        deviation = square_root(larger(squares / num_rows - mean * mean, 0.0))
        read = context - saved
        # Less is read beside the longest row, so more of it is its own: rows with all in common take as long as one.
        top = read / num_rows * rates.share + deviation * rates.spread
        tail = larger(steps.max_decode_context - top, 0.0)
        evenness = context * context / larger(squares * num_rows, 1.0)
        return rates.call_s + evenness * rates.even_s + read * rates.token_s + tail * rates.tail_s

    def least(self, steps: StepColumns[Value], rates: AttentionRates[Value], saved: Value) -> Value:
        """Seconds that no step of rows which share is below: those of its longest row alone, as far as all is shared.

        Tables are fitted to rows that share little or nothing; beyond, they would let many users of one prompt be
        quicker than one.
        """
        num_rows, context = steps.num_decode_seqs, larger(steps.decode_context, 1.0)
        # Of n rows all of which have all in common, 1 / n is no saving.
        alike = saved / context * (num_rows / larger(num_rows - 1.0, 1.0))
        return alike * (rates.alone_s + steps.max_decode_context * rates.alone_token_s)
