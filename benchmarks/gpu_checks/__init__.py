"""What `benchmarks.gpu_check` checks on a GPU, one group of cases a module."""
