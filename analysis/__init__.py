"""What a run means: the run directory, its metrics and its reports. Start with `analysis.run.load`."""
