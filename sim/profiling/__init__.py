"""Profiles: step times of a backend over a sweep of step shapes, taken in the serving loop itself."""
