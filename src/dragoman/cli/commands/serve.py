"""``dragoman serve``: the page and the API under it, on this machine, until Ctrl-C.

Prints one address with a token in it and opens the page. The token is new with each start and is written nowhere, so
that no command of an agent can read it from a file; pages that are signed in stay so over a restart. For a token that stays
the same there is ``DRAGOMAN_TOKEN``.
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

import click

from dragoman.cli.signals import Interrupts, handling
from dragoman.errors import UsageError, reason_of

if TYPE_CHECKING:
    from dragoman.archive.api import SessionArchive
    from dragoman.client.connection import Connection
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
    """None: the usual one, or any other that is free."""
    names: Sequence[str] = ()
    roots: Sequence[Path] = ()
    policy: Path | None = None
    command: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    home: Path | None = None
    """Where saved sessions are; the agent's own home by default."""
    opens: bool = True
    otherwise: Callable[[ApprovalRequested], Any] | None = None
    """Decides what no file of rules decides."""
    first: Mapping[str, Any] | None = None
    """A session to begin with, and to show."""


@click.command(short_help="Open the page: watch, steer and approve agents in a browser.")
@click.option("--port", type=click.IntRange(0, 65535), help="Where to listen; 0: any free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--allow-remote",
    "names",
    multiple=True,
    metavar="NAME",
    help="Let others in, who reach this machine by NAME. Needed with --host.",
)
@click.option(
    "--root",
    "roots",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder that agents may work in, with all below it. Here by default.",
)
@click.option("--open/--no-open", "opens", default=None, help="Open the page in a browser.")
@click.option("--command", metavar="PATH", help="The agent's program. Found by itself.")
@click.option("--policy", type=click.Path(dir_okay=False), metavar="FILE", help="Approval rules.")
@click.option("--data", type=click.Path(file_okay=False), metavar="DIR", help="Where to keep all.")
def serve(
    port: int | None,
    host: str,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    opens: bool | None,
    command: str | None,
    policy: str | None,
    data: str | None,
) -> int:
    """Open the page: start agents in a folder, watch them, answer them, find what they did.

    Only this machine can reach it, and only with the address that is printed. Ctrl-C ends it, and all agents with
    it; you can resume their sessions. The token in the address is new with each start, unless DRAGOMAN_TOKEN has one.
    """
    folder = Path(data) if data is not None else data_folder(os.environ)
    serving = Serving(
        data=folder,
        host=host,
        port=port,
        names=names,
        roots=[Path(each) for each in roots] or [Path.cwd()],
        policy=Path(policy) if policy is not None else folder / "policy.toml",
        command=command,
        opens=sys.stdout.isatty() if opens is None else opens,
    )
    return run(serving)


def data_folder(environment: Mapping[str, str]) -> Path:
    """Where live sessions are kept."""
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "dragoman"
    return Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "dragoman"


def run(serving: Serving) -> int:
    """Serve until somebody wants an end of it; the exit code."""
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
    """Refuse what would be dangerous, or cannot work."""
    if serving.host not in _LOOPBACK and not serving.names:
        raise UsageError(
            f"--host {serving.host} lets other machines in, and whoever has the token can run commands "
            "here; say --allow-remote NAME, with the name that they reach this machine by"
        )
    for name in serving.names:
        if not name or "/" in name or name.strip() != name or "*" in name:
            raise UsageError(f"--allow-remote wants the name of a machine, not {name!r}")
    if any(find_spec(name) is None for name in ("litestar", "uvicorn")):
        raise UsageError("the page needs a few more packages: pip install 'dragoman[web]'")


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
            # Whatever opens a browser shows the address to every program on this machine: not the token, then.
            await asyncio.to_thread(webbrowser.open, f"{place}#token={logins.new_code()}")
        await over.wait()
        click.echo("dragoman: ending; the agents are stopped", err=True)


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
            click.echo(f"dragoman: {harness.title} is not there: {harness.problem}", err=True)
    click.echo(address)
    roots = ", ".join(str(each) for each in serving.roots)
    click.echo(f"Agents may work in {roots}. Ctrl-C ends it.", err=True)


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::", "::1", "localhost"):
        return "127.0.0.1" if host != "::1" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        # Earlier versions kept the token here, for every command that may read files to find.
        (folder / "token").unlink(missing_ok=True)
    except OSError as problem:
        raise UsageError(f"cannot use {folder}: {reason_of(problem)}") from None


def take_token(environment: MutableMapping[str, str]) -> str:
    """The token to let people in with. What stands in the environment is taken out: agents inherit the rest."""
    given = environment.pop(_TOKEN, "").strip()
    if not given:
        return secrets.token_urlsafe(_SHORTEST_TOKEN)
    if len(given) < _SHORTEST_TOKEN or not given.isascii() or not given.isprintable():
        raise UsageError(
            f"{_TOKEN} is too easy to guess: it needs {_SHORTEST_TOKEN} or more plain characters, "
            "such as `openssl rand -hex 32` prints"
        )
    return given


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    first = several.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _first(cast("BaseExceptionGroup[BaseException]", first))
    return first
