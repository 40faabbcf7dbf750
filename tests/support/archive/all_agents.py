"""One user's home with the sessions of every agent, from the bundled recordings, each where its agent keeps it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from dragoman.harnesses import harness
from dragoman.harnesses.contract.history import Origin

DATA: Final = Path(__file__).parents[2] / "data"
_FOLDERS: Final = {
    "codex": ".codex",
    "claude": ".claude",
    "gemini": ".gemini",
    "copilot": ".copilot",
    "qwen": ".qwen",
}
_RECORDED: Final = {
    "codex": "codex/runs/0.16*/*rollout*.jsonl",
    "claude": "claude/runs/*/*.disk*.jsonl",
    "gemini": "gemini/runs/*/*.disk*.jsonl",
    "copilot": "copilot/1.0.102/*.disk.jsonl",
    "qwen": "qwen/*/*.disk*.jsonl",
}
_RESPONSE_ID: Final = re.compile(rb'"(resp|msg)_')
_OPENCODE: Final = DATA / "opencode" / "database" / "opencode.db"
AGENTS: Final = (*_RECORDED, "opencode")


def _codex(origin: Origin, number: int) -> str:
    return (
        f"sessions/2026/11/15/rollout-2026-11-15T09-00-{number % 60:02}-{origin.session_id}.jsonl"
    )


def _claude(origin: Origin, number: int) -> str:
    if origin.kind == "sub-agent":
        folder = f"projects/-workspace/{origin.parent_session_id}/subagents"
        return f"{folder}/agent-{origin.session_id}.jsonl"
    return f"projects/-workspace/{origin.session_id}.jsonl"


def _gemini(origin: Origin, number: int) -> str:
    if origin.kind == "sub-agent":
        return f"tmp/app/chats/{origin.parent_session_id}/{origin.session_id}.jsonl"
    return f"tmp/app/chats/session-2026-11-15T09-{number % 60:02}-{origin.session_id[:8]}.jsonl"


def _copilot(origin: Origin, number: int) -> str:
    return f"session-state/{origin.session_id}/events.jsonl"


def _qwen(origin: Origin, number: int) -> str:
    if origin.kind == "sub-agent":
        folder = f"projects/-workspace/subagents/{origin.parent_session_id}"
        return f"{folder}/agent-{origin.session_id}.jsonl"
    return f"projects/-workspace/chats/{origin.session_id}.jsonl"


_PLACES: Final[dict[str, Callable[[Origin, int], str]]] = {
    "codex": _codex,
    "claude": _claude,
    "gemini": _gemini,
    "copilot": _copilot,
    "qwen": _qwen,
}


def lay_out(home: Path, *agents: str) -> dict[str, list[Path]]:
    """Make the homes of these agents; return the session files of each. Of a session recorded twice, one file."""
    found: dict[str, list[Path]] = {}
    for name in agents or AGENTS:
        if name == "opencode":
            path = home / ".local" / "share" / "opencode" / "opencode.db"
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(_OPENCODE, path)
            found[name] = [path]
            continue
        history = harness(name).history
        assert history is not None
        found[name] = []
        for number, recording in enumerate(sorted(DATA.glob(_RECORDED[name]))):
            lines = recording.read_bytes().split(b"\n")[:64]
            if name == "claude" and recording.name.startswith("forked"):
                continue  # two stand-in models gave its responses and those it copied the same ids
            origin = history.identify("recording.jsonl", [line for line in lines if line])
            if origin is None:
                continue
            path = home / _FOLDERS[name] / _PLACES[name](origin, number)
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_with_own_ids(recording))
                found[name].append(path)
    return found


def _with_own_ids(recording: Path) -> bytes:
    """The recording with ids of responses that no other run has: the stand-in model began each with the first."""
    scenario, kind, *_ = recording.name.split(".")
    run = f"{scenario}_{kind.partition('-')[0].rstrip('0123456789')}".encode()
    return _RESPONSE_ID.sub(rb'"\1_' + run + rb"_", recording.read_bytes())
