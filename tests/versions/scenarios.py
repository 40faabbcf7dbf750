"""The core stories, as values: what each is called, how Codex is driven, and which releases can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plays import Play
from releases import Version

Mode: TypeAlias = Literal["app-server", "exec"]
Story: TypeAlias = Callable[[Play], Awaitable[None]]

APP_SERVER: Version = (0, 66, 0)
EXEC: Version = (0, 44, 0)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A story, and the first release that must be able to play it: any before must be refused."""

    name: str
    mode: Mode
    since: Version
    story: Story


class Stories:
    """Collects the stories of one mode."""

    def __init__(self, mode: Mode, since: Version) -> None:
        self.mode: Mode = mode
        self.since = since
        self.all: list[Scenario] = []

    def story(self, name: str, *, since: Version | None = None) -> Callable[[Story], Story]:
        def add(story: Story) -> Story:
            first = since or self.since
            self.all.append(Scenario(name=name, mode=self.mode, since=first, story=story))
            return story

        return add
