"""Homes of Claude Code: from recordings, or made up with every way in which a response is written twice."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

DATA = Path(__file__).parents[2] / "data" / "claude" / "claude-transcript"
STORY = "11111111-2222-4333-8444-000000000001"
FORK = "bced0b07-6cba-4056-a5ac-0a8bbf1d84b7"
RESUMED = "11111111-2222-4333-8444-555555555555"
PARENT = "fa6e4074-32cb-4a9b-ae99-5f2f4c08e215"
AGENT = "a1081049f5c7167a2"
FAILED = "702231cb-06ee-48c0-a744-5f3ed38845f0"
_PLACES = {
    "story": f"{STORY}.jsonl",
    "fork": f"{FORK}.jsonl",
    "resumed": f"{RESUMED}.jsonl",
    "agent-in-background": f"{PARENT}.jsonl",
    "agent": f"{PARENT}/subagents/agent-{AGENT}.jsonl",
    "error-500": f"{FAILED}.jsonl",
}


def recorded_home(home: Path) -> Path:
    """Lay recordings out as Claude does; return the folder of their project."""
    project = home / "projects" / "-workspace"
    for name, place in _PLACES.items():
        (project / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DATA / name / "wire.jsonl", project / place)
    return project


@dataclass
class MadeSession:
    """A session that was made up."""

    id: str
    project: str
    path: Path
    agent_of: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")


class MadeHome:
    """Sessions with several blocks for each response, sub-agents, forks of forks, and failures."""

    def __init__(self, home: Path, seed: int) -> None:
        self._random = Random(seed)
        self._home = home
        self._count = 0
        self._now = datetime(2026, 11, 1, tzinfo=UTC)
        self.sessions: list[MadeSession] = []
        for _ in range(self._random.randint(1, 3)):
            session = self._session()
            self._talk(session)
            self._maybe_more(session, depth=0)
        for session in self.sessions:
            session.write()

    def _maybe_more(self, session: MadeSession, depth: int) -> None:
        if self._random.random() < 0.6:
            agent = self._session(agent_of=session)
            self._talk(agent)
        while depth < 3 and self._random.random() < 0.5:
            fork = self._fork(session)
            self._talk(fork)
            if self._random.random() < 0.5:
                self._talk(session)  # the parent goes on without the fork
            self._maybe_more(fork, depth + 1)

    def _new_id(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _time(self) -> str:
        self._now += timedelta(seconds=self._random.randint(1, 20_000))
        return self._now.isoformat().replace("+00:00", "Z")

    def _session(self, agent_of: MadeSession | None = None) -> MadeSession:
        if agent_of is not None:
            name = f"a{self._random.getrandbits(60):015x}"
            path = agent_of.path.with_suffix("") / "subagents" / f"agent-{name}.jsonl"
            made = MadeSession(name, agent_of.project, path, agent_of=agent_of.id)
        else:
            project = self._random.choice(["/work/a", "/work/b"])
            name = self._new_id()
            folder = self._home / "projects" / project.replace("/", "-")
            made = MadeSession(name, project, folder / f"{name}.jsonl")
            # Bookkeeping comes first, with the time at which the file was begun.
            made.rows.append({"type": "queue-operation", "operation": "enqueue"})
            made.rows[0] |= {"timestamp": self._time(), "sessionId": name}
        self.sessions.append(made)
        return made

    def _fork(self, parent: MadeSession) -> MadeSession:
        """Copy all rows, as ``--fork-session`` does: new session, old ids, times and messages."""
        fork = self._session()
        fork.project = parent.project
        for row in parent.rows:
            if "uuid" not in row:
                continue
            copied = {**row, "sessionId": fork.id}
            if row["type"] == "assistant":
                copied["requestSessionId"] = row.get("requestSessionId", row["sessionId"])
            fork.rows.append(copied)
        return fork

    def _talk(self, session: MadeSession) -> None:
        for _ in range(self._random.randint(1, 3)):
            self._add(session, "user", {"role": "user", "content": f"do {self._count}"})
            for _ in range(self._random.randint(1, 4)):
                self._respond(session)
            if self._random.random() < 0.3:
                self._fail(session)

    def _respond(self, session: MadeSession) -> None:
        self._count += 1
        written, hour = self._random.randint(0, 900), self._random.choice([0, 0, 400])
        usage = {
            "input_tokens": self._random.randint(0, 900),
            "cache_creation_input_tokens": written + hour,
            "cache_read_input_tokens": self._random.choice([0, 70_000, 250_000]),
            "output_tokens": self._random.randint(1, 900),
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": hour,
            },
        }
        model = self._random.choice(["claude-sonnet-4-5-20250929", "claude-haiku-4-5", "no-such"])
        for number in range(blocks := self._random.randint(1, 3)):
            block = {"type": "text", "text": f"block {number}"}
            self._add(
                session,
                "assistant",
                {
                    "id": f"msg_{self._count}",
                    "model": model,
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": "end_turn" if number == blocks - 1 else "tool_use",
                    "usage": usage,
                },
            )

    def _fail(self, session: MadeSession) -> None:
        self._count += 1
        message = {
            "id": self._new_id(),
            "model": "<synthetic>",
            "content": [{"type": "text", "text": "API Error"}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        self._add(session, "assistant", message, isApiErrorMessage=True, error="server_error")

    def _add(self, session: MadeSession, kind: str, message: dict[str, Any], **more: Any) -> None:
        before = [row["uuid"] for row in session.rows if "uuid" in row]
        row = {
            "parentUuid": before[-1] if before else None,
            "isSidechain": session.agent_of is not None,
            "type": kind,
            "message": message,
            "uuid": self._new_id(),
            "timestamp": self._time(),
            "userType": "external",
            "cwd": session.project,
            "sessionId": session.agent_of or session.id,
            "version": "2.1.326",
        }
        agent = {"agentId": session.id} if session.agent_of is not None else {}
        session.rows.append(row | agent | more)
