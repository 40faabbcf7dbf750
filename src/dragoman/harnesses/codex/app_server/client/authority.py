"""Whether the server applies the authority it was asked for.

An agent may be configured, or forced by an administrator, to something else than a program
asks for; only its answer shows that. What is compared: the approval policy, who
decides, the kind of sandbox, network access, and the directories that may be written. Anything else,
and anything not confirmed, is a sentence that names both sides; the session must not be used.
"""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.codex.app_server.client.sandboxes import kebab
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str
from dragoman.model.intents import OpenSession

_OWN_ROOTS: Final = ("/memories", "\\memories")
"""0.117 to 0.135 always add their directory for memories to what may be written."""


def mismatch(asked: OpenSession, result: dict[str, Any], home: str | None = None) -> str | None:
    """What the server applies instead of what was asked; None if it applies just that.

    ``result`` is its answer to ``thread/start``, ``thread/resume`` or ``thread/fork``; ``home`` the
    directory where it keeps its own files, if known.
    """
    problems = [
        *_approvals(asked, result),
        *_sandbox(asked, as_dict(result.get("sandbox")), home or _home(result)),
        *_ephemeral(asked, as_dict(result.get("thread"))),
    ]
    return "; ".join(problems) or None


def _approvals(asked: OpenSession, result: dict[str, Any]) -> list[str]:
    wanted, applied = asked.approvals, result.get("approvalPolicy")
    if isinstance(wanted, dict):
        same = _granular(wanted) == _granular(as_dict(applied))
    else:
        same = kebab(wanted) == kebab(as_str(applied) or "")
    if not same:
        return [f"asked for approvals {_shown(wanted)}, the server applies {_shown(applied)}"]
    reviewer = as_str(result.get("approvalsReviewer"))
    chosen = as_str(asked.config.get("approvals_reviewer")) or "user"
    if wanted != "never" and reviewer is not None and reviewer != chosen:
        return [f"approvals are to be decided by {chosen!r}, the server asks {reviewer!r}"]
    return []


def _granular(policy: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The switches that are on; one that is not named is off."""
    return {
        name: {switch: value for switch, value in as_dict(switches).items() if value}
        for name, switches in policy.items()
    }


def _sandbox(asked: OpenSession, applied: dict[str, Any], home: str | None) -> list[str]:
    wanted, kind = kebab(asked.sandbox), kebab(as_str(applied.get("type")) or "")
    if kind != wanted:
        return [f"asked for the sandbox {wanted!r}, the server applies {_shown(kind or None)}"]
    if kind == "danger-full-access":
        return []
    settings = _settings(asked.config)
    problems: list[str] = []
    network = applied.get("networkAccess") in (True, "enabled")
    wants_network = kind == "workspace-write" and settings.get("network_access") is True
    if network != wants_network:
        asked_for = "network access" if wants_network else "no network access"
        problems.append(f"asked for {asked_for}, the server {'allows' if network else 'denies'} it")
    roots = [root for root in as_list(applied.get("writableRoots")) if isinstance(root, str)]
    allowed = [asked.cwd, *asked.add_dirs, *as_list(settings.get("writable_roots"))]
    more = [root for root in roots if not _is_own(root, home) and not _is_within(root, allowed)]
    if more:
        problems.append(f"the server lets these be written, too: {', '.join(more)}")
    return problems


def _ephemeral(asked: OpenSession, thread: dict[str, Any]) -> list[str]:
    if asked.ephemeral and asked.resume is None and thread.get("ephemeral") is False:
        return ["asked for a session without a file, the server keeps one"]
    return []


def _settings(config: dict[str, Any]) -> dict[str, Any]:
    """The sandbox settings in the intent's own configuration, nested or with dots."""
    name = "sandbox_workspace_write"
    dotted = {
        key.removeprefix(f"{name}."): value
        for key, value in config.items()
        if key.startswith(f"{name}.")
    }
    return as_dict(config.get(name)) | dotted


def _is_own(root: str, home: str | None) -> bool:
    if home is None:
        return False
    return root in (home.rstrip("/\\") + own for own in _OWN_ROOTS)


def _is_within(root: str, allowed: list[Any]) -> bool:
    return any(
        root == place or root.startswith((f"{place}/", f"{place}\\"))
        for place in (place.rstrip("/\\") for place in allowed if isinstance(place, str))
    )


def _home(result: dict[str, Any]) -> str | None:
    """Where the server keeps its files, by the path of the session's own."""
    path = as_str(as_dict(result.get("thread")).get("path")) or ""
    for mark in ("/sessions/", "\\sessions\\", "/archived_sessions/"):
        home, found, _ = path.rpartition(mark)
        if found:
            return home
    return None


def _shown(value: Any) -> str:
    return "nothing that it names" if value is None else repr(value)
