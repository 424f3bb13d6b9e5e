"""What back-ends of models share: conversations as chat templates take them, answers in pieces.

Other people's plugins may use it as ours do. It knows nothing of a library.
"""
