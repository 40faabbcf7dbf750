"""Turns with the official SDK, ``openai-codex``: run by driving.py, in an environment of its own.

Reads the text of a prompt per line, and answers each with how long it took to open a thread and to run
the turn, in seconds, and how much of the processor this process used for the turn.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from typing import Any


def main() -> int:
    sdk: Any = importlib.import_module("openai_codex")
    config = sdk.CodexConfig(codex_bin=sys.argv[1])
    asked = {
        "cwd": os.getcwd(),
        "sandbox": sdk.Sandbox.full_access,
        "approval_mode": sdk.ApprovalMode.deny_all,
    }
    with sdk.Codex(config) as codex:
        print("ready", flush=True)
        for prompt in sys.stdin:
            began = time.perf_counter()
            thread = codex.thread_start(**asked)
            opened, busy = time.perf_counter(), time.process_time()
            result = thread.run(prompt.strip())
            ended, worked = time.perf_counter(), time.process_time()
            assert result.final_response, result
            print(json.dumps([opened - began, ended - opened, worked - busy]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
