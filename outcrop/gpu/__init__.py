"""Search on a GPU: the same emitted model, compiled for the GPU, and a breadth-first search in its memory."""
