"""What decode rows read that another row of the step reads too."""

from backends.cost_model import StepColumns, Value, larger


def shared_reads(steps: StepColumns[Value]) -> Value:
    """Tokens of the decode rows' contexts that are read again, once for each row but the first.

    A step's shape counts all that requests hold in common, chunks among them. Taken is what there would be if all rows
    held the same: of d decode rows and c chunks with one prefix of P tokens,

        held in common   (d + c - 1) P
        read again       (d - 1) P      by decode rows, which one kernel serves; chunks have their own

    The longest row is never among them.
    """
    decodes, others = steps.num_decode_seqs, steps.num_prefill_seqs
    among = larger(decodes - 1.0, 0.0) / larger(decodes + others - 1.0, 1.0)
    shared = steps.shared_context * among
    return shared - larger(shared - (steps.decode_context - steps.max_decode_context), 0.0)
