"""APIs of models that other programs speak, answered by the model that is set, with memory."""
