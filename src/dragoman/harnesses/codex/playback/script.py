"""A recording as a script: what is known of its session, and its turns one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dragoman.harnesses.codex.playback.release import RELEASE
from dragoman.harnesses.codex.playback.shapes import rate_limits, turn_of
from dragoman.harnesses.codex.playback.turns import PlaybackStep, TurnWriter, made_up_id
from dragoman.harnesses.codex.versions import parse_version
from dragoman.harnesses.contract.playback import TimedMessage
from dragoman.model.messages import Prompt, RateLimits, SessionStarted, TurnStarted


class PlaybackScript:
    """The session that a recording begins with; its agents play in its turns."""

    def __init__(self, timed: Sequence[TimedMessage]) -> None:
        starts = [c.message for c in timed if isinstance(c.message, SessionStarted)]
        first = next(iter(timed), None)
        self.own = starts[0].session_id if starts else first.message.session_id if first else None
        self.started = starts[0] if starts else SessionStarted(harness="")
        self.thread_id = self.own or made_up_id("recording")
        self.cwd = self.started.cwd or "/"
        self.home = "/recording"
        self.created_at = int(self.started.at.timestamp()) if self.started.at else 0
        self.turns = _turns(timed, self.own)
        self.limits = next(
            (rate_limits(c.message) for c in reversed(timed) if isinstance(c.message, RateLimits)),
            rate_limits(RateLimits()),
        )
        prompts = [c.message.text for c in timed if isinstance(c.message, Prompt)]
        self.preview = prompts[0] if prompts else ""
        self._recorded_ids = [_turn_id(turn, self.own) for turn in self.turns]

    @property
    def release(self) -> str:
        """The release to be: the recording's own, unless that had no such server."""
        known = parse_version(self.started.version)
        return self.started.version or RELEASE if known and known >= (0, 160, 0) else RELEASE

    def turn_id(self, number: int, thread_id: str) -> str:
        """The id of a turn, counted from 1."""
        recorded = self._recorded_ids[number - 1]
        is_own = recorded is not None and len(recorded) >= 32 and thread_id == self.thread_id
        if is_own and recorded is not None and self._recorded_ids.count(recorded) == 1:
            return recorded
        return made_up_id(thread_id, "turn", number)

    def past(self, played: int, thread_id: str, cwd: str) -> list[dict[str, Any]]:
        """The turns that have been played, with all their items."""
        writer = TurnWriter(thread_id, self.own, cwd)
        shown: list[dict[str, Any]] = []
        for number, turn in enumerate(self.turns[:played], 1):
            turn_id = self.turn_id(number, thread_id)
            shown.append(_past(writer.write(turn, turn_id), thread_id, turn_id))
        return shown

    def model(self) -> dict[str, Any]:
        name = self.started.model or "recorded"
        return {
            "id": name,
            "model": name,
            "upgrade": None,
            "upgradeInfo": None,
            "availabilityNux": None,
            "displayName": name,
            "description": "the model of the recording",
            "hidden": False,
            "supportedReasoningEfforts": [],
            "defaultReasoningEffort": "medium",
            "inputModalities": ["text", "image"],
            "supportsPersonality": False,
            "isDefault": True,
        }


def _turns(timed: Sequence[TimedMessage], own: str | None) -> list[list[TimedMessage]]:
    turns: list[list[TimedMessage]] = []
    for each_timed in timed:
        if isinstance(each_timed.message, TurnStarted) and each_timed.message.session_id == own:
            # The client's own words begin the turn, not the pause before the recorded ones.
            turns.append([TimedMessage(0.0, each_timed.message)])
        elif turns:
            turns[-1].append(each_timed)
    return turns


def _turn_id(turn: Sequence[TimedMessage], own: str | None) -> str | None:
    return turn[0].message.turn_id if turn else None


def _past(steps: Sequence[PlaybackStep], thread_id: str, turn_id: str) -> dict[str, Any]:
    """A turn as shown when it is over."""
    items: dict[str, dict[str, Any]] = {}
    ended: dict[str, Any] = turn_of(turn_id, "interrupted")
    for step in steps:
        if step.params.get("threadId") != thread_id:
            continue
        if step.method == "item/completed":
            item = step.params["item"]
            items[item["id"]] = item
        elif step.method == "turn/completed":
            ended = step.params["turn"]
    return {**ended, "items": list(items.values()), "itemsView": "full"}
