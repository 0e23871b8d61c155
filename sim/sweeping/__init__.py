"""Replays over a grid of rates, policies and settings."""
