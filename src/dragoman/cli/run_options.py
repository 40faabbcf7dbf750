"""The options that ``run`` and ``chat`` share, and the agent they describe."""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from dragoman.errors import UsageError

if TYPE_CHECKING:
    from dragoman.cli.live import LiveView
    from dragoman.cli.live_keys import Keyboard
    from dragoman.crew.connecting import Agent, Session

_F = TypeVar("_F", bound=Callable[..., Any])
_SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
_APPROVALS = ("untrusted", "on-failure", "on-request", "never")

_OPTIONS = (
    click.option("-C", "--cwd", metavar="DIR", default=".", help="Where to work. Here by default."),
    click.option("-m", "--model", metavar="NAME", help="The model. The agent's own by default."),
    click.option("--effort", metavar="WORD", help="How hard to think: low, medium, high …"),
    click.option(
        "-s",
        "--sandbox",
        type=click.Choice(_SANDBOXES),
        default="workspace-write",
        show_default=True,
        help="How far its commands may reach.",
    ),
    click.option(
        "-a",
        "--approvals",
        type=click.Choice(_APPROVALS),
        default="on-request",
        show_default=True,
        help="When it asks before it acts.",
    ),
    click.option("--policy", metavar="FILE", help="Rules (TOML) that decide what it asks for."),
    click.option("-y", "--yes", is_flag=True, help="Allow whatever it asks for."),
    click.option("--config", "settings", multiple=True, metavar="KEY=VALUE", help="A setting."),
    click.option("--command", metavar="PATH", help="The agent's program. Found by itself."),
    click.option("--ssh", metavar="HOST", help="Run the agent on another machine."),
    click.option("--journal", metavar="FILE", help="Keep every line that goes over the wire."),
    click.option("--ephemeral", is_flag=True, help="Leave no session file."),
)


def agent_options(command: _F) -> _F:
    """Give a command the options that describe an agent; they arrive as one ``AgentOptions``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Which agent, where, and what it may do."""

    cwd: str = "."
    model: str | None = None
    effort: str | None = None
    sandbox: str = "workspace-write"
    approvals: str = "on-request"
    policy: str | None = None
    yes: bool = False
    settings: tuple[str, ...] = ()
    command: str | None = None
    ssh: str | None = None
    journal: str | None = None
    ephemeral: bool = False
    env: dict[str, str] = field(default_factory=dict[str, str])

    def check(self) -> None:
        """Refuse what cannot work before anything is started."""
        if self.yes and self.policy:
            raise UsageError("--yes allows everything; it leaves --policy nothing to decide")
        _settings(self.settings)
        if not self.ssh and not Path(self.cwd).expanduser().is_dir():
            raise UsageError(f"{self.cwd} is not a directory")

    @property
    def directory(self) -> str:
        if self.ssh:
            return self.cwd
        return str(Path(self.cwd).expanduser().resolve())

    @asynccontextmanager
    async def connected(
        self,
        view: LiveView,
        *,
        mode: str = "app-server",
        shows: bool = False,
        seconds: float | None = None,
        policy: Any = None,
        ask: Callable[[Any], Awaitable[Any]] | None = None,
        ahead: bool = False,
    ) -> AsyncGenerator[tuple[Agent, Keyboard | None]]:
        """The agent, and the keyboard at which somebody can be asked, if there is one."""
        from dragoman.cli.asking import Asker, nobody_there
        from dragoman.cli.live_keys import keyboard_of
        from dragoman.crew.connecting import Timeouts, connect
        from dragoman.crew.deciding import allow_all, ask_always

        keyboard = keyboard_of() if view.animate else None
        policy = policy or self.policy or (allow_all if self.yes else ask_always)
        async with AsyncExitStack() as stack:
            if keyboard is not None:
                stack.enter_context(keyboard.listening(ahead=ahead))
                clock = asyncio.get_running_loop().time
                ask = ask or Asker(view, keyboard, clock, shows=shows)
            agent = await stack.enter_async_context(
                connect(
                    command=self.command,
                    mode=cast("Literal['app-server']", mode),
                    policy=policy,
                    ask=ask or nobody_there(tell),
                    journal=self.journal,
                    env=self.env,
                    ssh=self.ssh,
                    timeouts=Timeouts(turn=seconds) if seconds else Timeouts(),
                )
            )
            yield agent, keyboard

    async def start(self, agent: Agent, *, resume: str | None = None) -> Session:
        """A session as these options describe it."""
        return await agent.start(
            cwd=self.directory,
            model=self.model,
            sandbox=cast("Any", self.sandbox),
            approvals=cast("Any", self.approvals),
            resume=resume,
            ephemeral=self.ephemeral,
            config=_settings(self.settings),
        )


def tell(words: str) -> None:
    """A word from us on standard error."""
    click.echo(f"dragoman: {words}", err=True)


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    """Settings as ``key=value``; the value is TOML if it can be, and text otherwise."""
    found: dict[str, Any] = {}
    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--config wants KEY=VALUE, not {each!r}")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = value
    return found


def prompt_from(words: str) -> str:
    """The prompt itself, or standard input for ``-``."""
    if words != "-":
        return words
    if cast("object", sys.stdin) is None:
        raise UsageError("standard input is closed; there is no prompt to read")
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("standard input is empty; there is no prompt to read")
    return text


def schema_from(path: str | None) -> dict[str, Any] | None:
    """The JSON schema in a file."""
    if path is None:
        return None
    try:
        schema = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"cannot read the schema {path}: {problem}") from problem
    if not isinstance(schema, dict):
        raise UsageError(f"{path} is not a JSON schema: it is no object")
    return cast("dict[str, Any]", schema)
