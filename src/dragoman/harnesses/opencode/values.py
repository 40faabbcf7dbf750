"""The values on a line that some message has to hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str

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
        "what an answer would allow from now on, and the answer, which the decision says",
        ("permission/asked.properties.always[]", "permission/replied.properties.reply"),
    ),
)  # fmt: skip

_OMISSIONS: Final = Omissions(OMISSIONS)


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line, each with its place; ``rule`` says why the line has made no message."""
    if rule.startswith(_UNSAID):
        return
    try:
        given = as_dict(jsonl.loads(line))
        if "dir" in given:
            inner = given.get("msg", given.get("raw"))
            given = as_dict(jsonl.loads(inner.encode()) if isinstance(inner, str) else inner)
    except jsonl.NotJson:
        return
    name = as_str(given.get("type")) or as_str(given.get("opencode")) or "line"
    yield from _inside(name.replace(".", "/"), given)


def _inside(place: str, value: Any) -> Iterator[Value]:
    if value is None or value in ("", [], {}) or isinstance(value, bool):
        return
    if _OMISSIONS.reason(place):
        return
    if isinstance(value, dict):
        for key, inner in as_dict(value).items():
            yield from _inside(f"{place}.{key}", inner)
    elif isinstance(value, list):
        for inner in as_list(value):
            yield from _inside(f"{place}[]", inner)
    else:
        yield Value(place, value, [[value]])
