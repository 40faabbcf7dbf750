"""Options shared by ``run`` and ``chat``, and the agent that they describe."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from dragoman.cli import completing
from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.errors import UsageError, reason_of

if TYPE_CHECKING:
    from dragoman.cli.live.keys import Keyboard
    from dragoman.cli.live.live import LiveView
    from dragoman.client.opening import Agent, Session

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS = (
    agent_option("Agent to run: {agents}. See `dragoman harnesses`."),
    click.option(
        "-C",
        "--cwd",
        metavar="DIR",
        default=".",
        help="Working directory. The current one by default.",
    ),
    click.option(
        "-m",
        "--model",
        metavar="NAME",
        shell_complete=completing.models,
        help="Model to use. The agent's default if omitted.",
    ),
    click.option(
        "--effort",
        metavar="WORD",
        shell_complete=completing.efforts,
        help="Reasoning effort: low, medium, high …",
    ),
    click.option(
        "--access",
        "-s",
        "--sandbox",
        "access",
        metavar="LEVEL",
        shell_complete=completing.access,
        help="What the agent may access: read, write or full, or one of its own modes.",
    ),
    click.option(
        "--ask",
        "-a",
        "--approvals",
        "asking",
        metavar="MODE",
        shell_complete=completing.asking,
        help="When the agent asks for approval. `dragoman harnesses` lists the modes.",
    ),
    click.option("--policy", metavar="FILE", help="Rules (TOML) that answer approval requests."),
    click.option("-y", "--yes", is_flag=True, help="Allow every request."),
    click.option("--profile", metavar="NAME", help="Profile from the agent's configuration."),
    click.option(
        "--add-dir",
        "add_dirs",
        multiple=True,
        metavar="DIR",
        help="Additional directory that the agent may write to. Repeatable.",
    ),
    click.option(
        "--config",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set an option of the agent's configuration. Repeatable.",
    ),
    click.option(
        "--command", metavar="PATH", help="The agent's program. Found automatically by default."
    ),
    click.option(
        "--agent",
        metavar="COMMAND",
        help='Run any program that speaks ACP, e.g. --agent "my-agent --acp".',
    ),
    click.option("--ssh", metavar="HOST", help="Run the agent on another machine."),
    click.option(
        "--journal", metavar="FILE", help="Record every line exchanged with the agent in this file."
    ),
    click.option("--ephemeral", is_flag=True, help="Write no session file."),
)


def agent_options(command: _F) -> _F:
    """Add the options of ``AgentOptions`` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def resume_options(command: _F) -> _F:
    """Add ``--resume`` and ``--last`` to a command."""
    command = click.option(
        "--last", is_flag=True, help="Resume the newest session of the working directory."
    )(command)
    return click.option(
        "--resume",
        is_flag=False,
        flag_value="",
        metavar="ID",
        shell_complete=completing.sessions,
        help="Resume a session by id, id prefix or name.",
    )(command)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """The agent to run, where, and with which permissions."""

    cwd: str = "."
    model: str | None = None
    effort: str | None = None
    harness: str | None = None
    access: str | None = None
    """A level, or a native value of the agent. None: the agent's default."""
    asking: str | None = None
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

    @classmethod
    def given(cls, *, agent: str | None = None, **options: Any) -> AgentOptions:
        """The options as they are given on the command line."""
        if agent is not None:
            from dragoman.client.reaching import named_agent

            options["harness"], options["command"] = named_agent(
                agent, options.get("harness"), options.get("command")
            )
        return cls(**options)

    def check(self) -> None:
        """Reject invalid options before anything starts."""
        if self.yes and self.policy:
            raise UsageError("use either --yes or --policy: --yes allows every request")
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
        """Images by paths that the agent can open. Relative paths refer to the caller's directory."""
        from dragoman.client.connecting import check_images, take_images

        return take_images(given) if self.ssh else check_images(given)

    def resuming(self, name: str | None, *, last: bool) -> tuple[AgentOptions, str | None]:
        """These options with the agent of the session to resume, and the session's id.

        With --ssh, only the remote agent knows its sessions.
        """
        if self.ssh:
            if last or name == "":
                raise UsageError("--ssh needs the full id of the session: --resume ID")
            return self, name
        if name is None and not last:
            return self, None
        from dragoman.cli.archive_options import find_to_resume

        found = find_to_resume(name, last, self.directory)
        if found is None:
            return self, None
        if self.harness is None:
            return replace(self, harness=found.harness), found.id
        if found.harness is not None and found.harness != self.harness:
            raise UsageError(
                f"session {found.id} belongs to {found.harness}, so --harness {self.harness} "
                "cannot resume it"
            )
        return self, found.id

    @asynccontextmanager
    async def connected(
        self,
        view: LiveView,
        *,
        transport: str | None = None,
        shows: bool = False,
        seconds: float | None = None,
        policy: Any = None,
        ask: Callable[[Any], Awaitable[Any]] | None = None,
        ahead: bool = False,
    ) -> AsyncGenerator[tuple[Agent, Keyboard | None]]:
        """Connect to the agent; yields it with the keyboard for questions, if there is one."""
        # What only a person at a terminal needs is imported for one: the agent starts that much sooner.
        from dragoman.cli.approvals.unattended import deny_unattended
        from dragoman.client.connecting import Connection, Timeouts, open_connection
        from dragoman.client.deciding import allow_all, ask_always

        if self.access is not None:  # not in check(): the session to resume may decide the agent
            from dragoman.client.surveying import check_access

            check_access(self.harness, self.access)
        keyboard: Keyboard | None = None
        if view.interactive:
            from dragoman.cli.live.keys import keyboard_of

            keyboard = keyboard_of()
        policy = policy or self.policy or (allow_all if self.yes else ask_always)
        if keyboard is not None:
            from dragoman.cli.approvals.asker import Asker

            clock = asyncio.get_running_loop().time
            ask = ask or Asker(view, keyboard, clock, shows=shows)
        how = Connection(
            command=self.command,
            transport=transport,
            policy=policy,
            ask=ask or deny_unattended(notify),
            journal=self.journal,
            env=self.env,
            ssh=self.ssh,
            timeouts=Timeouts(turn=seconds) if seconds else Timeouts(),
        )
        agent = open_connection(self.harness, how)
        # Nested blocks instead of an exit stack: AsyncExitStack rewrites the context chain of an
        # exception, and loops forever if that chain has a cycle.
        with _listening(keyboard, view, ahead=ahead):
            async with agent as connected:
                yield cast("Agent", connected), keyboard

    def warn(self, agent: Agent, view: LiveView) -> None:
        """Warn before the first turn if no one is signed in."""
        facts = agent.facts
        if facts is None or facts.signed_in is not False or not facts.needs_sign_in:
            return
        from dragoman.cli.live.cells import hung
        from dragoman.cli.live.ink import Ink

        ink = Ink(colour=view.colour)
        words = "No one is signed in, so the model will not answer. Run `dragoman doctor` to see how to sign in."
        view.write_rows([ink(row, "yellow") for row in hung("! ", words, view.width - 1)])

    async def start(self, agent: Agent, *, resume: str | None = None) -> Session:
        """Start or resume a session with these options."""
        return await agent.start(
            cwd=self.directory,
            model=self.model,
            access=self.access,
            asking=self.asking,
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


def notify(words: str) -> None:
    """Print a notice of Dragoman itself to standard error."""
    click.echo(f"dragoman: {words}", err=True)


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``key=value`` settings; a value that is not TOML is text."""
    found: dict[str, Any] = {}
    if not given:
        return found
    import tomllib  # as slow to import as a small harness

    for each in given:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--config needs KEY=VALUE, not {each!r}")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = value
    return found


def prompt_from(words: str) -> str:
    """The prompt, read from standard input for ``-``."""
    if words != "-":
        if not words.strip():
            raise UsageError("the prompt is empty: say what the agent should do")
        return words
    if cast("object", sys.stdin) is None:
        raise UsageError("cannot read the prompt: standard input is closed")
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("cannot read the prompt: standard input is empty")
    return text


def schema_from(path: str | None) -> dict[str, Any] | None:
    """The JSON schema in a file."""
    if path is None:
        return None
    try:
        schema = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        why = reason_of(problem) if isinstance(problem, OSError) else f"not JSON: {problem}"
        raise UsageError(f"cannot read the schema {path}: {why}") from problem
    if not isinstance(schema, dict):
        raise UsageError(f"{path} is not a JSON schema: it must be an object")
    return cast("dict[str, Any]", schema)
