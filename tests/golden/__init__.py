"""Replays decision traces recorded from published schedulers and compares every decision."""
