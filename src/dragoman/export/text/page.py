"""The layout of a transcript: margins, colors, and blank lines between groups.

It knows speakers and their depth, but nothing about messages. Lines of one group stay together, and groups are
separated by blank lines. A speaker that follows another one at the same depth is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from dragoman.rendering import render

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "cyan"]
_CODES: Final[dict[Style, str]] = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
}

Thing: TypeAlias = tuple[str, str | None]
"""What lines may be part of: a kind of thing, and which one of its speaker's."""


@dataclass(slots=True)
class Speaker:
    """Whose lines they are."""

    name: str | None
    depth: int = 0
    """How many margins stand before the lines."""


class Page:
    def __init__(self, *, color: bool) -> None:
        self._color = color
        self._lines: list[str] = []
        self._newest: tuple[str | None, Thing] | None = None
        """What the newest line is part of, and whose."""
        self._depth: int | None = None
        """How deep the newest line stands; none before the first."""
        self._shown_at: dict[int, str] = {}
        """The speaker last shown at each depth."""

    def drain(self) -> bytes:
        """What has been written since the last time."""
        lines, self._lines = self._lines, []
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")

    def paint(self, line: str, style: Style | None) -> str:
        if not self._color or style is None or not line:
            return line
        return f"\x1b[{_CODES[style]}m{line}\x1b[0m"

    def introduce(self, speaker: Speaker) -> None:
        """Take a speaker as named, by what will be written next."""
        if speaker.name is not None:
            self._shown_at[speaker.depth] = speaker.name

    def is_at(self, speaker: Speaker, thing: Thing) -> bool:
        """Whether the newest line is part of this."""
        return self._newest == (speaker.name, thing)

    def write(
        self,
        speaker: Speaker,
        lines: Sequence[str],
        style: Style | None = None,
        part_of: Thing | None = None,
    ) -> None:
        """Write lines apart from those before, unless both are part of the same thing."""
        if not lines:
            return
        if part_of is None or not self.is_at(speaker, part_of):
            self._set_apart(speaker)
        self._newest = (speaker.name, part_of) if part_of else None
        self._depth = speaker.depth
        for line in lines:
            self._put(speaker.depth, self.paint(line, style))

    def _set_apart(self, speaker: Speaker) -> None:
        name, depth = speaker.name, speaker.depth
        if self._depth is not None:
            self._put(min(depth, self._depth), "")
        if name is not None and self._shown_at.setdefault(depth, name) != name:
            self._shown_at[depth] = name
            self._put(depth, self.paint(f"── {render.flat(name)}", "dim"))

    def _put(self, depth: int, line: str) -> None:
        margin = "│ " * depth
        self._lines.append(self.paint(margin if line else margin.rstrip(), "dim") + line)


def split(text: str) -> list[str]:
    """The lines of a text, harmless, without empty ones at either end."""
    text = text.strip("\r\n")
    return render.harmless(text).split("\n") if text else []


def hung(mark: str, lines: Sequence[str]) -> list[str]:
    """Lines with a mark before the first, the others below the text of the first."""
    return [mark + line for line in lines[:1]] + [f"  {line}" if line else "" for line in lines[1:]]


def head(text: str, count: int, width: int, indent: str) -> list[str]:
    """The first lines of something long, none of them longer than ``width``."""
    lines, beyond = render.head(text, count)
    return [indent + render.clip(line, width) for line in lines] + more(beyond, indent)


def more(count: int, indent: str = "  ") -> list[str]:
    """A line with the number of further entries, if there are any."""
    return [f"{indent}… {count} more line{'s' * (count != 1)}"] if count > 0 else []
