"""Live streams and the session files that the same runs left, found by their names and compared.

Files are named ``<release>/<scenario>.<kind>.jsonl``. A kind of live stream leaves a kind of session file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import Message, SessionStarted
from dragoman.model.turns import Turn, fold
from dragoman.testing.conformance.corpus import RecordedFile, read_as
from dragoman.testing.likeness import Difference, differences

LEAVES: Mapping[str, str] = {
    "live": "disk",
    "exec": "exec-rollout",
    "appserver": "rollout",
    "appserver-v1": "appserver-v1-rollout",
    "proto": "proto-rollout",
    "mcpserver": "mcpserver-rollout",
}
"""Kinds of live streams, and the kind of the session file that the same run left."""


@dataclass(frozen=True, slots=True, order=True)
class Recording:
    """A file, and what its name says about it."""

    release: str
    scenario: str
    kind: str
    path: Path

    @classmethod
    def at(cls, path: Path) -> Recording:
        """What the name of a file says; one that is named otherwise belongs to no other file."""
        scenario, _, kind = path.name.removesuffix(".jsonl").rpartition(".")
        return cls(path.parent.name, scenario, kind, path)

    def left(self, leaves: Mapping[str, str] = LEAVES) -> list[Path]:
        """Return the session files that the same run left: its own, its sub-agents' and its forks'."""
        kind = leaves.get(self.kind)
        if kind is None:
            return []
        one = self.path.with_name(f"{self.scenario}.{kind}.jsonl")
        many = sorted(self.path.parent.glob(f"{self.scenario}.{kind}[0-9].jsonl"))
        return [one] if one.exists() else many

    def is_resumed_later(self) -> bool:
        """Whether later runs, recorded in the same folder, resumed the same session."""
        return any(self.path.parent.glob(f"{self.scenario}.{self.kind}-resume*.jsonl"))


def recordings(folder: Path) -> Iterator[Recording]:
    """Return the recordings of one harness, by release and name."""
    found = [Recording.at(path) for path in folder.glob("*/*.jsonl")]
    return iter(
        sorted(found, key=lambda each: (release_number(each.release), each.scenario, each.kind))
    )


@dataclass(slots=True)
class Pair:
    """One session in a live stream, and in the files it left."""

    live: Recording
    one: list[Turn]
    other: list[Turn]
    limits: list[Limit]

    def differences(self, without: Limit | None = None) -> list[Difference]:
        """Return the differences, as if the limit ``without`` did not exist."""
        limits = [limit for limit in self.limits if limit is not without]
        return differences(self.one, self.other, limits)

    def needed(self) -> list[Limit]:
        """Return the limits without which the two would differ."""
        return [limit for limit in self.limits if self.differences(without=limit)]


def compare(
    harness: Harness, recording: Recording, leaves: Mapping[str, str] = LEAVES
) -> Iterator[Pair]:
    """Compare a live stream with the session files its run left, session by session.

    Sessions that the stream does not have are skipped: some programs print only their own, not their sub-agents'.
    """
    live_dialect, live = _read_recording(harness, recording.path)
    live_turns = fold(live)
    files: dict[str | None, list[tuple[str, list[Message]]]] = defaultdict(list)
    agents: set[str | None] = set()
    for path in recording.left(leaves):
        dialect, messages = _read_recording(harness, path)
        started = next((one for one in messages if isinstance(one, SessionStarted)), None)
        if started and started.parent_session_id:
            agents.add(started.session_id)
        files[started.session_id if started else None].append((dialect, messages))
    for session_id, held in files.items():
        one = [turn for turn in live_turns if turn.session_id in (session_id, None)]
        other = [
            turn
            for _, messages in held
            for turn in fold(messages)
            if turn.session_id == session_id  # others were copied from another session
        ]
        if not one:
            continue
        if recording.is_resumed_later():
            other = other[: len(one)]
        dialects = {live_dialect, *(dialect for dialect, _ in held)}
        limits = [
            limit
            for limit in harness.limits
            if any(limit.applies(dialect, recording.release) for dialect in dialects)
            and (session_id in agents or not limit.aspect.startswith("agent "))
        ]
        yield Pair(recording, one, other, limits)


def _read_recording(harness: Harness, path: Path) -> tuple[str, list[Message]]:
    recorded = RecordedFile(path, path.name, harness)
    if recorded.dialect is None:
        return "", []
    return recorded.dialect.name, read_as(recorded.dialect, recorded.lines, ending="left")


def release_number(release: str) -> tuple[int, ...]:
    """Return a release as numbers, to sort by."""
    return tuple(int(part) if part.isdigit() else 0 for part in release.split("."))
