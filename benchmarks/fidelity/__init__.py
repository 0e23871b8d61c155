"""How well the simulator agrees with a GPU: runs on the GPU, and what is made of them elsewhere."""
