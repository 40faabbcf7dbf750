"""The options that ``run`` and ``chat`` share, and the agent they describe."""

from __future__ import annotations

import asyncio
import json
import sys
import tomllib
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from dragoman.cli import completing
from dragoman.errors import UsageError, reason_of

if TYPE_CHECKING:
    from dragoman.cli.live.keys import Keyboard
    from dragoman.cli.live.live import LiveView
    from dragoman.client.connecting import Agent, Session

_F = TypeVar("_F", bound=Callable[..., Any])
_SANDBOXES = ("read-only", "workspace-write", "danger-full-access")
# What any release knows: which it is that runs is seen when it starts.
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
        metavar="MODE",
        shell_complete=completing.approvals,
        help="When it asks before it acts: untrusted, on-request or never; on-failure with older agents.",
    ),
    click.option("--policy", metavar="FILE", help="Rules (TOML) that decide what it asks for."),
    click.option("-y", "--yes", is_flag=True, help="Allow whatever it asks for."),
    click.option("--profile", metavar="NAME", help="A profile of the agent's configuration."),
    click.option(
        "--add-dir",
        "add_dirs",
        multiple=True,
        metavar="DIR",
        help="Another directory that its commands may write in.",
    ),
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


def resume_options(command: _F) -> _F:
    """Give a command ``--resume`` and ``--last``."""
    command = click.option(
        "--last", is_flag=True, help="Resume the newest session of the directory."
    )(command)
    return click.option(
        "--resume",
        is_flag=False,
        flag_value="",
        metavar="ID",
        shell_complete=completing.sessions,
        help="Resume a session: its id, the start of its id, or its name.",
    )(command)


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
    profile: str | None = None
    add_dirs: tuple[str, ...] = ()
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
        for each in () if self.ssh else self.add_dirs:
            if not Path(each).expanduser().is_dir():
                raise UsageError(f"--add-dir: {each} is not a directory")

    @property
    def directory(self) -> str:
        if self.ssh:
            return self.cwd
        return str(Path(self.cwd).expanduser().resolve())

    def images(self, given: tuple[str, ...]) -> list[str]:
        """Images as the agent can open them: paths are relative to where the command was given."""
        from dragoman.client.connecting import check_images, take_images

        return take_images(given) if self.ssh else check_images(given)

    def session_to_resume(self, name: str | None, *, last: bool) -> str | None:
        """The id of the session to resume. On another machine, only the agent knows its sessions."""
        from dragoman.cli.archive_options import session_to_resume

        if not self.ssh:
            return session_to_resume(name, last, self.directory)
        if last or name == "":
            raise UsageError("--ssh needs the full id of the session: --resume ID")
        return name

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
        from dragoman.cli.approvals.asker import Asker, deny_unattended
        from dragoman.cli.live.keys import keyboard_of
        from dragoman.client.connecting import Timeouts, connect
        from dragoman.client.deciding import allow_all, ask_always

        keyboard = keyboard_of() if view.interactive else None
        policy = policy or self.policy or (allow_all if self.yes else ask_always)
        if keyboard is not None:
            clock = asyncio.get_running_loop().time
            ask = ask or Asker(view, keyboard, clock, shows=shows)
        agent = connect(
            command=self.command,
            mode=cast("Literal['app-server']", mode),
            policy=policy,
            ask=ask or deny_unattended(tell),
            journal=self.journal,
            env=self.env,
            ssh=self.ssh,
            timeouts=Timeouts(turn=seconds) if seconds else Timeouts(),
        )
        # Blocks and no exit stack: the stack writes the chain of contexts of the errors that pass
        # through it again, and never comes to its end if that chain has become a circle.
        with _listening(keyboard, view, ahead=ahead):
            async with agent as connected:
                yield connected, keyboard

    def warn(self, agent: Agent, view: LiveView) -> None:
        """Say it before the first turn if the model will refuse to answer."""
        from dragoman.cli.approvals.steps import hung
        from dragoman.cli.live.ink import Ink

        facts = agent.facts
        if facts is None or facts.signed_in is not False or not facts.needs_sign_in:
            return
        ink = Ink(colour=view.colour)
        words = "No one is signed in, so the model will not answer: `dragoman doctor` says how to sign in."
        view.say([ink(row, "yellow") for row in hung("! ", words, view.width - 1)])

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
            profile=self.profile,
            add_dirs=self.add_dirs,
        )


def _listening(
    keyboard: Keyboard | None, view: LiveView, *, ahead: bool
) -> AbstractContextManager[None]:
    if keyboard is None:
        return nullcontext()
    return keyboard.listening(ahead=ahead, marks=view.animate, lost=view.lose)


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
        if not words.strip():
            raise UsageError("the prompt is empty: say what the agent should do")
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
        why = reason_of(problem) if isinstance(problem, OSError) else f"it is not JSON: {problem}"
        raise UsageError(f"cannot read the schema {path}: {why}") from problem
    if not isinstance(schema, dict):
        raise UsageError(f"{path} is not a JSON schema: it is no object")
    return cast("dict[str, Any]", schema)
