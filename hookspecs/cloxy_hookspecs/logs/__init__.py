"""What source plugins share: reading JSON that may be damaged, times, titles, folders, turns.

Other people's plugins may use it as ours do. It knows nothing of an agent.
"""
