"""The values on a line that some message has to hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.wire.envelope import object_on
from dragoman.wire.loose import as_str

_UNSAID: Final = (
    "state: ",
    "request: ",
    "answer: ",
    "journal: ",
    "copy: ",
    "session: announced before",
    "blank line",
)

OMISSIONS: Final = (
    Omission(
        "names by which lines refer to one another, and times",
        ("**.id", "**.*ID", "**.*_id", "**.type", "**.role", "**.time.**", "**.time", "**.timestamp",
         "**.time_created", "**.slug", "**.opencode"),
    ),
    Omission(
        "how the program showed a call, besides its result",
        ("**.state.title", "**.state.metadata.**", "**.state.raw", "**.state.status", "**.tool"),
    ),
    Omission(
        "the service's answer around the message of an error",
        ("**.responseHeaders.**", "**.responseBody"),
    ),
    Omission("the provider's own data about a part", ("**.metadata.**",)),
    Omission("the tokens of a step that was counted before", ("**.tokens.**", "**.cost", "**.reason")),
    Omission(
        "how the session stands; each of its turns says it",
        ("session.**", "session/created.properties.info.**", "session/updated.properties.info.**",
         "session/status.properties.status.next", "line.body.title", "line.body.path",
         "line.body.model.*", "line.body.permission.**", "line.body.revert.**", "line.body.share.**"),
    ),
    Omission(
        "how a response was made; the session and its turns say it",
        ("**.agent", "**.mode", "**.finish", "**.path.root"),
    ),
    Omission("that a request was answered", ("line.status",)),
    Omission("the state of the workspace, by its own name", ("**.snapshot",)),
    Omission("the changes of a turn as one diff; each edit is a call", ("**.summary.**",)),
    Omission(
        "the answer, which the decision says",
        ("permission/replied.properties.reply",),
    ),
)  # fmt: skip

_OMISSIONS: Final = Omissions(OMISSIONS)


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line, each with its place; ``rule`` says why the line has made no message."""
    if rule.startswith(_UNSAID):
        return
    given = object_on(line)
    name = as_str(given.get("type")) or as_str(given.get("opencode")) or "line"
    yield from _OMISSIONS.values(name.replace(".", "/"), given)
