"""Sandboxes as objects: ``{"type": "workspaceWrite", "writableRoots": […], "networkAccess": false}``.

Requests for a session name a sandbox by a word, answers and turns by such an object. The words have
been spelled in two ways; ours are those of today.
"""

from __future__ import annotations

import re
from typing import Any, Final

from dragoman.harnesses.codex.values.loose import as_dict, as_str

_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TYPES: Final = {
    "read-only": "readOnly",
    "workspace-write": "workspaceWrite",
    "danger-full-access": "dangerFullAccess",
    "external-sandbox": "externalSandbox",
}


def kebab(word: str) -> str:
    """``onRequest`` as ``on-request``: the spelling of today, and ours."""
    spelled = _HUMPS.sub("-", word).lower()
    return "untrusted" if spelled == "unless-trusted" else spelled


def default_policy(sandbox: str, cwd: str | None) -> dict[str, Any]:
    """What a sandbox allows by default: the workspace, and no network."""
    kind = _TYPES.get(kebab(sandbox), sandbox)
    policy: dict[str, Any] = {"type": kind}
    if kind == "workspaceWrite":
        policy |= {"writableRoots": [cwd] if cwd else [], "networkAccess": False}
    return policy


def confirmed_policy(result: dict[str, Any], cwd: str | None) -> dict[str, Any]:
    """The sandbox of a session that was just opened, as a turn may ask for it."""
    applied = as_dict(result.get("sandbox"))
    policy = default_policy(as_str(applied.get("type")) or "read-only", cwd) | applied
    if policy["type"] == "workspaceWrite" and not policy.get("writableRoots"):
        policy["writableRoots"] = [cwd] if cwd else []
    return policy


def merge_policy(base: dict[str, Any], asked: dict[str, Any], cwd: str | None) -> dict[str, Any]:
    """What is asked, laid over what the session has; over the default if it is of another kind."""
    kind = as_str(asked.get("type"))
    if kind is None:
        return base | asked
    wanted = default_policy(kind, cwd)
    if wanted["type"] == base.get("type"):
        wanted = base
    return wanted | asked | {"type": wanted["type"]}
