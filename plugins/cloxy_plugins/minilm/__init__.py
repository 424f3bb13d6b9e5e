"""The embedder that comes with Cloxy: a small sentence model, run by onnxruntime."""
