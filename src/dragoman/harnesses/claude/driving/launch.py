"""How Claude is started: one process for each session, or one for each prompt.

Nothing here looks at the machine. What a Claude process around us has left in the environment is emptied:
a nested Claude would otherwise take itself for a part of that session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from dragoman.errors import Unsupported
from dragoman.harnesses.claude.driving.modes import BYPASS, NEVER, asking_of, mode_of, native_mode
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import Launch, OneShot
from dragoman.harnesses.stream_json.driving.tools import allowed_tools, server_config
from dragoman.model.intents import OpenSession
from dragoman.wire.loose import as_dict, as_list

FORWARD: Final[Release] = (2, 1, 325)
"""Sub-agents' texts can be forwarded: the first release that was tried and can; 2.1.197 cannot."""
_STREAM: Final = ("--output-format", "stream-json", "--verbose", "--include-partial-messages")
_INHERITED: Final[tuple[str, ...]] = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
)
_FLAGS: Final = ("settings", "agents", "betas", "fallback-model", "max-budget-usd", "max-turns",
                 "setting-sources", "tools", "allowed-tools", "disallowed-tools", "system-prompt",
                 "plugin-dir", "name")  # fmt: skip
"""What a session's ``config`` may name, besides keys of settings.json."""


def session_launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    """``claude -p`` that reads prompts and control requests as lines."""
    if opening is None:
        raise Unsupported("a Claude process without a session")
    if opening.personality is not None:
        raise Unsupported("a personality with Claude")
    mode = mode_of(opening)
    argv = [program, "-p", "--input-format", "stream-json", *_STREAM]
    argv += ["--permission-mode", mode]
    if asking_of(opening) != NEVER:
        argv += ["--permission-prompt-tool", "stdio"]
    argv += _extras(release)
    if opening.fork is not None:
        argv += ["--resume", opening.fork, "--fork-session"]
    elif opening.resume is not None:
        argv += ["--resume", opening.resume]
    if opening.session_id is not None and opening.resume is None:
        argv += ["--session-id", opening.session_id]
    if opening.ephemeral:
        argv.append("--no-session-persistence")
    if opening.instructions is not None:
        argv += ["--append-system-prompt", opening.instructions]
    if opening.tools:
        # Newer releases would otherwise show the model only their names, and make it search for the rest.
        argv += ["--mcp-config", server_config(opening.tools, alwaysLoad=True)]
    argv += _common(opening.model, opening.add_dirs)
    argv += _config(opening.config, allowed=allowed_tools(opening.tools))
    return Launch(
        argv=tuple(argv), cwd=opening.cwd, env=_environment(), env_for_root=_for_root(mode)
    )


def turn_launch(program: str, release: Release | None, shot: OneShot) -> Launch:
    """``claude -p PROMPT``, which ends when it has answered. It cannot ask anything."""
    if shot.images:
        raise Unsupported("an image with claude -p PROMPT", needs="the transport stream-json")
    if shot.profile is not None:
        raise Unsupported("a profile with Claude")
    if shot.output_schema is not None:
        raise Unsupported("a schema with Claude")
    mode = native_mode(shot.sandbox)
    argv = [program, "-p", *_STREAM, "--permission-mode", mode, *_extras(release)]
    if shot.fork is not None:
        argv += ["--resume", shot.fork, "--fork-session"]
    elif shot.resume is not None:
        argv += ["--resume", shot.resume]
    if shot.ephemeral:
        argv.append("--no-session-persistence")
    if shot.effort is not None:
        argv += ["--effort", shot.effort]
    argv += _common(shot.model, shot.add_dirs)
    argv += _config(shot.config, allowed=[])
    # After "--", so that a prompt may begin with a dash.
    return Launch(
        argv=(*argv, "--", shot.prompt),
        cwd=shot.cwd,
        env=_environment(),
        env_for_root=_for_root(mode),
        stdin=False,
    )


def _extras(release: Release | None) -> list[str]:
    return ["--forward-subagent-text"] if release is None or release >= FORWARD else []


def _common(model: str | None, add_dirs: Iterable[str]) -> list[str]:
    argv = ["--model", model] if model is not None else []
    for folder in add_dirs:
        argv += ["--add-dir", folder]
    return argv


def _config(config: Mapping[str, Any], allowed: list[str]) -> list[str]:
    """Claude's own options by their names, and keys of settings.json."""
    argv: list[str] = []
    settings: dict[str, Any] = {}
    for key, value in config.items():
        name = key.replace("_", "-")
        if key == "effort":
            argv += ["--effort", str(value)]
        elif name == "allowed-tools":
            allowed = [*allowed, *([value] if isinstance(value, str) else as_list(value))]
        elif name in _FLAGS and name != "settings":
            argv += [f"--{name}", *_words(value)]
        elif name == "settings" and isinstance(value, dict):
            settings |= as_dict(value)
        else:
            settings[key] = value
    if allowed:
        argv += ["--allowed-tools", ",".join(map(str, allowed))]
    if settings:
        argv += ["--settings", msgspec.json.encode(settings).decode()]
    return argv


def _words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [",".join(map(str, as_list(value)))]
    return [value if isinstance(value, str) else msgspec.json.encode(value).decode()]


def _environment() -> dict[str, str]:
    env: dict[str, str] = dict.fromkeys(_INHERITED, "")
    # Claude may update itself while it works; the program that was found is the one that is meant.
    env["DISABLE_AUTOUPDATER"] = "1"
    # Says when the agent is idle, which bounds a turn whose end was lost.
    env["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"] = "1"
    return env


def _for_root(mode: str) -> dict[str, str]:
    # Without it Claude refuses full access to root; the caller has asked for exactly that.
    return {"IS_SANDBOX": "1"} if mode == BYPASS else {}
