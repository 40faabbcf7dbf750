"""``dragoman serve``: the page and the HTTP API, on this machine, until Ctrl-C.

Prints one URL with a token and opens the page. The token is new for each start and is never written to
disk, so that no command of an agent can read it from a file; pages that are signed in stay signed in
over a restart. Set ``DRAGOMAN_TOKEN`` for a token that stays the same.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
import webbrowser
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from dragoman.cli import lazy_click as click
from dragoman.cli.agent_option import agent_option
from dragoman.cli.signals import Interrupts, handling
from dragoman.errors import UsageError, reason_of

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.client.connection import Connection
    from dragoman.hub.hub import Hub
    from dragoman.model.messages import ApprovalRequested

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_DEFAULT_PORT: Final = 8787
_TOKEN: Final = "DRAGOMAN_TOKEN"
_SHORTEST_TOKEN: Final = 32


@dataclass(frozen=True, kw_only=True)
class Serving:
    """What to serve, and where."""

    data: Path
    host: str = "127.0.0.1"
    port: int | None = None
    """None: the default port, or another free one."""
    names: Sequence[str] = ()
    roots: Sequence[Path] = ()
    policy: Path | None = None
    harness: str | None = None
    """The default agent, and the one that ``command`` belongs to."""
    command: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    home: Path | None = None
    """Where saved sessions are; the agents' home directories by default."""
    opens: bool = True
    otherwise: Callable[[ApprovalRequested], Any] | None = None
    """A policy for requests that the rules file leaves open."""
    first: Mapping[str, Any] | None = None
    """A session to start and open."""


@click.command(short_help="Serve the page: watch, steer and approve agents in a browser.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 picks a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--allow-remote",
    "names",
    multiple=True,
    metavar="NAME",
    help="Accept other machines, which reach this one as NAME. Required with --host.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder that agents may work in. The current one by default. Repeatable.",
)
@click.option("--open/--no-open", "opens", default=None, help="Open the page in a browser.")
@click.option(
    "--command", metavar="PATH", help="The agent's program. Found automatically by default."
)
@click.option(
    "--agent", metavar="COMMAND", help="Any program that speaks ACP, as the default agent."
)
@agent_option("Default agent for new sessions: {agents}.")
@click.option("--policy", type=click.Path(dir_okay=False), metavar="FILE", help="Approval rules.")
@click.option(
    "--data", type=click.Path(file_okay=False), metavar="DIR", help="Folder for the server's data."
)
def serve(
    port: int | None,
    host: str,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    opens: bool | None,
    command: str | None,
    agent: str | None,
    harness: str | None,
    policy: str | None,
    data: str | None,
) -> int:
    """Serve the page: start agents in a folder, watch them, answer them, and find what they did.

    Only this machine can reach it, and only with the printed URL. Ctrl-C stops the server and all
    agents; you can resume their sessions. The token in the URL is new for each start, unless you set
    DRAGOMAN_TOKEN.
    """
    if agent is not None:
        from dragoman.client.reaching import named_agent

        harness, command = named_agent(agent, harness, command)
    folder = Path(data) if data is not None else data_folder(os.environ)
    serving = Serving(
        data=folder,
        host=host,
        port=port,
        names=names,
        roots=[Path(each) for each in roots] or [Path.cwd()],
        policy=Path(policy) if policy is not None else folder / "policy.toml",
        harness=harness,
        command=command,
        opens=sys.stdout.isatty() if opens is None else opens,
    )
    return run(serving)


def data_folder(environment: Mapping[str, str]) -> Path:
    """The folder for live sessions."""
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "dragoman"
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "dragoman"


def run(serving: Serving) -> int:
    """Serve until Ctrl-C or a signal; returns the exit code."""
    from dragoman.web.trimming import keep_together

    check(serving)
    keep_together()
    logging.basicConfig(level=logging.WARNING, format="dragoman: %(message)s")
    try:
        asyncio.run(_serve(serving))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130
    except BaseExceptionGroup as several:
        raise _first(several) from None
    return 0


def check(serving: Serving) -> None:
    """Reject options that would be dangerous, or cannot work."""
    if serving.host not in _LOOPBACK and not serving.names:
        raise UsageError(
            f"--host {serving.host} accepts other machines, and anyone with the token can run commands "
            "here; add --allow-remote NAME, the name by which they reach this machine"
        )
    for name in serving.names:
        if not name or "/" in name or name.strip() != name or "*" in name:
            raise UsageError(f"--allow-remote needs a host name, not {name!r}")
    if any(find_spec(name) is None for name in ("litestar", "uvicorn")):
        raise UsageError("the page needs more packages: pip install 'dragoman[web]'")


async def _serve(serving: Serving) -> None:
    from dragoman.hub.hub import Hub
    from dragoman.web.app import create_app
    from dragoman.web.logins import Logins
    from dragoman.web.server import listen
    from dragoman.web.server import serving as under_way
    from dragoman.web.settings import Settings
    from dragoman.web.trimming import settle

    over = asyncio.Event()
    presses = Interrupts(over.set)
    _make_private(serving.data)
    token = take_token(os.environ)
    logins = Logins(serving.data / "logins.json")
    on = _listen(serving, listen)
    port = int(on.getsockname()[1])
    settings = Settings(token=token, logins=logins, port=port, names=serving.names)
    async with AsyncExitStack() as stack:
        stack.callback(on.close)
        stack.enter_context(handling(presses))
        hub = await stack.enter_async_context(
            Hub(
                serving.data,
                connection=_connection(serving),
                roots=serving.roots,
                policy_path=serving.policy,
                harness=serving.harness,
                waits=False,
            )
        )
        app = create_app(hub, lambda: _archive(serving), settings)
        await stack.enter_async_context(under_way(app, on, hang_up=app.state.hang_up))
        settle()
        place = f"http://{_shown(serving.host)}:{port}/"
        if serving.first is not None:
            place += f"s/{(await hub.start(**serving.first)).id}"
        _welcome(hub, serving, f"{place}#token={token}")
        if serving.opens:
            # Every program on this machine can see the URL that a browser is opened with. So it carries a
            # code that works once, and never the token.
            await asyncio.to_thread(webbrowser.open, f"{place}#token={logins.new_code()}")
        async with asyncio.TaskGroup() as tasks:
            late = tasks.create_task(_say_problem(hub))
            await over.wait()
            late.cancel()
        click.echo("dragoman: stopping the agents and the server", err=True)


def _listen(serving: Serving, listen: Any) -> Any:
    if serving.port is not None:
        return listen(serving.host, serving.port)
    try:
        return listen(serving.host, _DEFAULT_PORT)
    except UsageError:
        return listen(serving.host, 0)


def _connection(serving: Serving) -> Connection:
    from dragoman.client.connection import Connection

    how = Connection(command=serving.command, env=dict(serving.env))
    return replace(how, policy=serving.otherwise) if serving.otherwise is not None else how


def _archive(serving: Serving) -> SessionArchive:
    from dragoman.archive.api import SessionArchive

    return SessionArchive(home=serving.home) if serving.home is not None else SessionArchive()


def _welcome(hub: Any, serving: Serving, address: str) -> None:
    if hub.note is not None:
        click.echo(f"dragoman: {hub.note}", err=True)
    for harness in hub.harnesses():
        if harness.problem:
            click.echo(f"dragoman: {harness.title} is not available: {harness.problem}", err=True)
    click.echo(address)
    roots = ", ".join(str(each) for each in serving.roots)
    click.echo(f"Agents may work in {roots}. Press Ctrl-C to stop.", err=True)


async def _say_problem(hub: Hub) -> None:
    """Say why the default agent could not be started, unless that was clear without starting it."""
    known = hub.harnesses()[0].problem
    await hub.connected()
    harness = hub.harnesses()[0]
    if harness.problem and harness.problem != known:
        click.echo(f"dragoman: {harness.title} is not available: {harness.problem}", err=True)


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::", "::1", "localhost"):
        return "127.0.0.1" if host != "::1" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        # Earlier versions stored the token here, where the commands of an agent could read it.
        (folder / "token").unlink(missing_ok=True)
    except OSError as problem:
        raise UsageError(f"cannot use {folder}: {reason_of(problem)}") from None


def take_token(environment: MutableMapping[str, str]) -> str:
    """The token that grants access. It is removed from the environment, which agents inherit."""
    given = environment.pop(_TOKEN, "").strip()
    if not given:
        return secrets.token_urlsafe(_SHORTEST_TOKEN)
    if len(given) < _SHORTEST_TOKEN or not given.isascii() or not given.isprintable():
        raise UsageError(
            f"{_TOKEN} is too easy to guess: use {_SHORTEST_TOKEN} or more printable ASCII characters, "
            "for example from `openssl rand -hex 32`"
        )
    return given


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    first = several.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", first))
    return first
