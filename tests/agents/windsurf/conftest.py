import sys
from pathlib import Path

# The tests here share modules; importlib mode does not put their folder on the path.
sys.path.insert(0, str(Path(__file__).parent))
