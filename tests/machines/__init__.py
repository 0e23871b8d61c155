"""Slow, obvious models and small universes for the tests that search for counterexamples."""
