"""Convert an agent's output while it runs: chunks in, whole lines out, for any host's stdout hook.

codex exec --json "fix the test" | python examples/stdout_hook.py
"""

import sys

import dragoman

mapper = dragoman.Mapper(to="ndjson")
while chunk := sys.stdin.buffer.read1(1 << 16):  # pieces cut anywhere
    for line in mapper.push(chunk):
        sys.stdout.write(line)
    sys.stdout.flush()
sys.stdout.writelines(mapper.flush())
