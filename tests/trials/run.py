"""Plays the core stories with the real programs, and prints what came of them.

``python tests/trials/run.py [NAME …] [--only WORD] [--write] [--keep DIR]``, or ``make test-harnesses``. Not part of
``make test``: the programs come from npm, and are kept for the next time (see programs.py). The model is a stand-in
on loopback: no key, no cost, no network. Ends with 1 if a cell failed that no limitation of the program explains,
or if a session's file differs from what was emitted live.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # what the tests share

from running import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
