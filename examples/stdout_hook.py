"""Convert an agent's output while it runs: chunks in, complete lines out. Fits any stdout hook.

codex exec --json "fix the test" | python examples/stdout_hook.py
"""

import os
import sys

import dragoman

mapper = dragoman.Mapper(to="ndjson")
while chunk := os.read(sys.stdin.fileno(), 1 << 16):  # chunks may end anywhere
    sys.stdout.writelines(mapper.push(chunk))
    sys.stdout.flush()
sys.stdout.writelines(mapper.flush())
