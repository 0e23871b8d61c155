"""Backends: what computes a batch, or predicts how long it takes."""
