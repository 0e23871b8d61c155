"""Dense Qwen3 on PyTorch: the backend that really computes."""
