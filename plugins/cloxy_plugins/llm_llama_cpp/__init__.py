"""Language models in GGUF files, run by llama.cpp in a process of their own: an extra."""
