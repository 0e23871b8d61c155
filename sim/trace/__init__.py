"""`python -m sim trace`: look at traces, check them, and make others."""
