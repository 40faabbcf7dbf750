from __future__ import annotations

import sys
from pathlib import Path

# The stories are a program of their own (run.py); its parts are found beside it.
sys.path.insert(0, str(Path(__file__).parent))
