"""Policies that come with the engine."""
