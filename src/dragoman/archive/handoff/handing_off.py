"""Write the conversation of a saved session as a native session of another agent."""

from __future__ import annotations

import os
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from dragoman.archive.handoff.placing import place_file
from dragoman.archive.handoff.releases import installed_release
from dragoman.archive.handoff.turn_range import TurnRange
from dragoman.errors import DragomanError, Unsupported, UsageError, reason_of
from dragoman.harnesses import all_harnesses, find_harness
from dragoman.harnesses.contract.harness import Harness
from dragoman.harnesses.contract.writer import (
    HandedConversation,
    Loss,
    NewSession,
    SourceSession,
    Writer,
)
from dragoman.harnesses.writing.conversation import conversation_of
from dragoman.model.messages import Notice
from dragoman.model.turns import Use

if TYPE_CHECKING:
    from dragoman.archive.places import ArchivePlace
    from dragoman.archive.saved import SavedSession

_CONTINUED = ("fork", "revert")


class HandoffFailed(DragomanError):
    """The new session could not be written."""


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was handed off, and what was left out."""

    session_id: str
    """The id of the new session."""
    harness: str
    title: str
    """What the harness is called."""
    path: str
    cwd: str
    source_session_id: str
    source_harness: str
    turns: int
    tool_calls: int
    losses: tuple[Loss, ...]
    native_command: tuple[str, ...]
    """How to continue in the agent's own interface, in the directory ``cwd``."""

    @property
    def command(self) -> tuple[str, ...]:
        """How to continue with Dragoman, in the directory ``cwd``."""
        return ("dragoman", "chat", "--resume", self.session_id)

    def in_shell(self, command: tuple[str, ...]) -> str:
        """A command as a line for the shell, from any directory."""
        return f"cd {shlex.quote(self.cwd)} && {shlex.join(command)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "session_id": self.session_id,
            "harness": self.harness,
            "path": self.path,
            "cwd": self.cwd,
            "source": {"session_id": self.source_session_id, "harness": self.source_harness},
            "turns": self.turns,
            "tool_calls": self.tool_calls,
            "losses": [msgspec.structs.asdict(loss) for loss in self.losses],
            "commands": {"native": list(self.native_command), "dragoman": list(self.command)},
        }


class Receiver(msgspec.Struct, frozen=True):
    """A harness that sessions can be handed off to."""

    name: str
    title: str


def receivers() -> list[Receiver]:
    """The harnesses that sessions can be handed off to."""
    return [Receiver(each.name, each.title) for each in all_harnesses() if each.writer is not None]


def check_receiver(name: str) -> None:
    """Raise :class:`UsageError` for a harness that nothing can be handed off to."""
    _receiver(name)


def _receiver(name: str) -> tuple[Harness, Writer]:
    found = find_harness(name)
    if found is None or found.writer is None:
        known = ", ".join(each.name for each in receivers())
        raise UsageError(f"sessions cannot be handed off to {name!r}; they can to {known}")
    return found, found.writer


def hand_off(
    session: SavedSession,
    place: ArchivePlace,
    *,
    to: str,
    turns: str | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
) -> Handoff:
    """Write the conversation of a session as a new native session of the harness ``to``.

    ``turns`` selects some of its turns. ``cwd`` is the directory of the new session; by default, that of the old
    one. ``home`` replaces the home of the target. Raises :class:`UsageError` and :class:`HandoffFailed`.
    """
    target, writer = _receiver(to)
    chosen = TurnRange.parse(turns) if turns is not None else None
    directory = _directory(session, cwd)
    release = installed_release(target.program) if target.program is not None else None
    if release is not None and writer.since is not None and release < writer.since:
        first, have = (".".join(map(str, each)) for each in (writer.since, release))
        raise Unsupported(
            "handing off a session",
            needs=f"{target.title} {first} or later",
            have=f"{target.title} {have}",
        )
    conversation, left_out = _conversation(session, chosen)
    now = datetime.now(UTC)
    folder = os.path.abspath(home) if home is not None else _home(target, place)
    source = SourceSession(harness=session.harness or "unknown", session_id=session.id)
    new = NewSession(
        session_id=writer.new_id(now, os.urandom(16)),
        at=now,
        cwd=directory,
        release=release,
        source=source,
        settings=_settings(target, folder),
    )
    written = writer.write(conversation, new)
    path = os.path.join(folder, *written.file.split("/"))
    try:
        place_file(path, written.lines)
    except OSError as problem:
        raise HandoffFailed(f"cannot write {path}: {reason_of(problem)}") from problem
    program = target.program.command if target.program is not None else target.name
    return Handoff(
        session_id=new.session_id,
        harness=target.name,
        title=target.title,
        path=path,
        cwd=directory,
        source_session_id=source.session_id,
        source_harness=source.harness,
        turns=len(conversation.turns),
        tool_calls=sum(isinstance(part, Use) for turn in conversation.turns for part in turn.parts),
        losses=(*left_out, *written.losses),
        native_command=(program or target.name, *writer.resume(new.session_id)),
    )


def _directory(session: SavedSession, cwd: str | os.PathLike[str] | None) -> str:
    given = os.fspath(cwd) if cwd is not None else session.project
    if given is None:
        raise UsageError(f"session {session.id} names no directory; choose one with --cwd")
    path = os.path.realpath(os.path.expanduser(given))
    if not os.path.isdir(path):
        way_out = "" if cwd is not None else "; choose another one with --cwd"
        raise UsageError(f"there is no directory {given}{way_out}")
    return path


def _conversation(
    session: SavedSession, chosen: TurnRange | None
) -> tuple[HandedConversation, tuple[Loss, ...]]:
    source = find_harness(session.harness) if session.harness else None
    history = source.history if source is not None else None

    def undone(notice: Notice) -> int:
        return history.turns_undone(notice) if history is not None else notice.undone_turns

    ancestors = (session.parent_id,) if session.origin in _CONTINUED and session.parent_id else ()
    found = conversation_of(
        session.messages(),
        session.id,
        ancestors=ancestors,
        turns_undone=undone,
        wanted=chosen.holds if chosen is not None else None,
    )
    if not found[0].turns and found[0].summary is None:
        what = "has no turns" if chosen is None else "has no such turns"
        raise UsageError(f"session {session.id} {what} to hand off")
    return found


def _home(target: Harness, place: ArchivePlace) -> str:
    folder = place.home_folders.get(target.name)
    if folder is not None:
        return folder
    assert target.history is not None, f"{target.name} has a writer but no history"
    return target.history.home(os.environ)


def _settings(target: Harness, home: str) -> bytes:
    """The user's settings in that home; nothing if there are none that can be read."""
    locate = target.program.settings_file if target.program is not None else None
    if locate is None or target.history is None:
        return b""
    variable = target.history.home_folder.variable
    try:
        with open(os.path.expanduser(locate({**os.environ, variable: home})), "rb") as file:
            return file.read()
    except OSError:
        return b""
