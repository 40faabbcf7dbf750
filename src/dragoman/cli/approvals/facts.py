"""Facts shown with a request: the shell, the directory, the URL, and what "always allow" would store.

The shell is shown unless it is the user's own (:func:`dragoman.model.shells.is_users_shell`).
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Mapping
from typing import Final, NamedTuple

from dragoman.model.messages import ApprovalRequested
from dragoman.model.shells import is_users_shell
from dragoman.rendering import render

_AT_A_PLACE: Final = ("command", "edit", "permissions")


class Fact(NamedTuple):
    """One labelled fact to read before answering."""

    label: str
    value: str
    is_odd: bool = False
    """Whether the fact is unusual and gets highlighted."""


def facts(
    asked: ApprovalRequested, root: str | None = None, env: Mapping[str, str] | None = None
) -> list[Fact]:
    """The facts of a request, safe to print, in display order."""
    found: list[Fact] = []
    if asked.shell and not is_users_shell(asked.shell, os.environ if env is None else env):
        found.append(Fact("shell", render.flat(asked.shell), is_odd=True))
    if (directory := _directory(asked, root)) is not None:
        found.append(directory)
    server = asked.detail.get("server")
    if asked.kind == "elicitation" and isinstance(server, str) and server:
        found.append(Fact("from", f"the MCP server {render.flat(server)}"))
    if asked.url is not None:
        found.append(Fact("address", f"{render.flat(asked.url)} (not opened)"))
    return found + _always(asked)


def _directory(asked: ApprovalRequested, root: str | None) -> Fact | None:
    """The working directory of a command, relative to the session's directory."""
    if asked.kind not in _AT_A_PLACE:
        return None
    given = asked.cwd or asked.detail.get("cwd")
    if not isinstance(given, str) or not given:
        return Fact("directory", "the session's directory") if asked.kind == "command" else None
    here = posixpath.normpath(given)
    if root is None:
        return Fact("directory", render.flat(here))
    base = posixpath.normpath(root)
    if here == base:
        return Fact("directory", ". (the session's directory)")
    if here.startswith(base.rstrip("/") + "/"):
        return Fact("directory", render.flat(posixpath.relpath(here, base)))
    return Fact("directory", f"{render.flat(here)} (outside the session's directory)", is_odd=True)


def _always(asked: ApprovalRequested) -> list[Fact]:
    rule = asked.always
    if rule is None or "allow_always" not in asked.choices:
        return []
    if rule.prefix:
        what = f"commands that start with: {render.flat(shlex.join(rule.prefix))}"
    elif rule.host:
        what = f"connections to {render.flat(rule.host)}"
    elif rule.stored_in:
        what = "this"
    else:
        return []
    stored = f" (stored in {render.flat(rule.stored_in)})" if rule.stored_in else ""
    return [Fact("from now on", what + stored)]
