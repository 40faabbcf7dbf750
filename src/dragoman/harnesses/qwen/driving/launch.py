"""How Qwen Code is started: one process for each session, or one for each prompt.

Nothing here looks at the machine. What a Qwen process around us has left in the environment is emptied: a nested one
would otherwise take itself for a part of that session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.transport import Launch, OneShot
from dragoman.harnesses.qwen.driving.modes import may_have_agents, mode_of, native_mode
from dragoman.harnesses.stream_json.driving.tools import server_config
from dragoman.model.intents import OpenSession
from dragoman.wire.loose import as_list

_STREAM: Final = ("--output-format", "stream-json", "--include-partial-messages")
_INHERITED: Final[tuple[str, ...]] = (
    "QWEN_CODE",
    "QWEN_CODE_AGENT_ID",
    "QWEN_CODE_PROMPT_ID",
    "QWEN_CODE_SESSION_ID",
)
_FLAGS: Final = frozenset(
    ("allowed-mcp-server-names", "allowed-tools", "auth-type", "bare", "core-tools", "disabled-slash-commands",
     "exclude-tools", "extensions", "fallback-model", "max-session-turns", "max-subagent-depth", "max-tool-calls",
     "max-wall-time", "openai-base-url", "output-style", "proxy", "safe-mode", "sandbox", "system-prompt")
)  # fmt: skip
"""What a session's ``config`` may name, besides ``effort``."""
_EXCLUDED: Final = "exclude-tools"
_AGENT: Final = "agent"


def session_launch(program: str, release: Release | None, opening: OpenSession | None) -> Launch:
    """``qwen`` that reads prompts and control requests as lines."""
    if opening is None:
        raise Unsupported("a Qwen process without a session")
    if opening.personality is not None:
        raise Unsupported("a personality with Qwen")
    mode = mode_of(opening)
    argv = [program, "--input-format", "stream-json", *_STREAM, "--channel", "SDK"]
    argv += ["--approval-mode", mode]
    argv += _history(opening.fork, opening.resume, ephemeral=opening.ephemeral)
    if opening.session_id is not None and opening.resume is None and opening.fork is None:
        argv += ["--session-id", opening.session_id]
    if opening.instructions is not None:
        argv.append(f"--append-system-prompt={opening.instructions}")
    if opening.tools:
        # Otherwise it would ask about each call, and show the model only the names of the tools.
        servers = server_config(opening.tools, trust=True, alwaysLoadTools=True)
        argv += ["--mcp-config", servers]
    config = {name.replace("_", "-"): value for name, value in opening.config.items()}
    if not may_have_agents(mode):
        config.setdefault(_EXCLUDED, [_AGENT])
    argv += _common(opening.model, opening.add_dirs, config)
    return Launch(argv=tuple(argv), cwd=opening.cwd, env=_environment())


def turn_launch(program: str, release: Release | None, shot: OneShot) -> Launch:
    """``qwen --prompt=PROMPT``, which ends when it has answered. It cannot ask anything."""
    if shot.images:
        raise Unsupported("an image with Qwen")
    if shot.profile is not None:
        raise Unsupported("a profile with Qwen")
    argv = [program, *_STREAM, "--approval-mode", native_mode(shot.sandbox)]
    argv += _history(shot.fork, shot.resume, ephemeral=shot.ephemeral)
    if shot.output_schema is not None:
        argv += ["--json-schema", f"@{shot.output_schema}"]
    if shot.effort is not None:
        raise Unsupported("an effort with a process for each prompt", needs="stream-json")
    config = {name.replace("_", "-"): value for name, value in shot.config.items()}
    argv += _common(shot.model, shot.add_dirs, config)
    # As one word, so that a prompt may begin with a dash.
    return Launch(
        argv=(*argv, f"--prompt={shot.prompt}"), cwd=shot.cwd, env=_environment(), stdin=False
    )


def _history(fork: str | None, resume: str | None, *, ephemeral: bool) -> list[str]:
    argv: list[str] = []
    if fork is not None:
        argv += ["--resume", fork, "--fork-session"]
    elif resume is not None:
        argv += ["--resume", resume]
    return [*argv, "--chat-recording=false"] if ephemeral else argv


def _common(model: str | None, add_dirs: Iterable[str], config: Mapping[str, Any]) -> list[str]:
    argv = ["--model", model] if model is not None else []
    for folder in add_dirs:
        argv += ["--add-dir", folder]
    for name, value in config.items():
        if name == "effort":
            continue
        if name not in _FLAGS:
            raise Unsupported(f"the setting {name!r} with Qwen", needs="its settings.json")
        values = as_list(value) if isinstance(value, list) else [value]
        argv += [f"--{name}={_word(each)}" for each in values]
    return argv


def _word(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _environment() -> dict[str, str]:
    env: dict[str, str] = dict.fromkeys(_INHERITED, "")
    env["QWEN_CODE_SUPPRESS_YOLO_WARNING"] = "1"
    return env
