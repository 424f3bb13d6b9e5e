"""Python imports this at start when its folder is on PYTHONPATH: child processes are guarded."""

import network_guard

network_guard.install()
