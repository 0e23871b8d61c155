"""Fits: from measured steps to the numbers of a cost model."""
