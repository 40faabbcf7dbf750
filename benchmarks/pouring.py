"""An agent that says what it has to say as fast as a pipe takes it: run by flood.py as ``codex``.

It answers the requests that open a session as a recording does. The first turn is everything between
the turn's start and its end, over and over again, with new names for the items each time; all of it is
made beforehand, and written in large pieces. Only the standard library, so that it starts quickly.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

_PIECE = 1 << 20
_NAMES = re.compile(rb'"((?:msg|rs|call)_\d+)"')


def main() -> int:
    recording, times, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if "--version" in words:
        say(b"codex-cli 0.166.0\n")
        return 0
    with open(recording, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    asked = {
        row["msg"]["id"]: row["msg"]["method"]
        for row in rows
        if row["dir"] == "send" and "id" in row["msg"]
    }
    heard = [row["msg"] for row in rows if row["dir"] == "recv"]
    answers = {asked[said["id"]]: said["result"] for said in heard if "method" not in said}
    told = [said for said in heard if "method" in said]
    began = next(at for at, said in enumerate(told) if said["method"] == "turn/started")
    ended = next(at for at, said in enumerate(told) if said["method"] == "turn/completed")
    middle = b"".join(map(line, told[began + 1 : ended]))
    flood = b"".join(_NAMES.sub(rb'"\1_%d"' % number, middle) for number in range(times))
    for text in sys.stdin.buffer:
        said = json.loads(text)
        if "id" not in said:
            continue
        if said["method"] not in answers:
            say(line({"id": said["id"], "error": {"code": -32600, "message": "not now"}}))
            continue
        say(line({"id": said["id"], "result": answers[said["method"]]}))
        if said["method"] == "turn/start":
            say(line(told[began]))
            say(flood)
            say(line(told[ended]))
    return 0


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def say(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view[:_PIECE]) :]


if __name__ == "__main__":
    sys.exit(main())
