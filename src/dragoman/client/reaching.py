"""Where the agent's program is, and how its processes are started: here, over ssh, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dragoman.client.connection import Connection
from dragoman.drive.links.link import OpenLink
from dragoman.drive.process.child import open_process
from dragoman.drive.process.programs import find_command_line, read_release
from dragoman.errors import UsageError
from dragoman.harnesses import ANY_PROGRAM
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.program import Program
from dragoman.harnesses.contract.transport import Launch, SessionTransport, Transport


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How the harness's processes are started, wherever that is."""

    program: str
    release: Release | None
    open: Callable[[Launch], OpenLink]
    here: bool
    """Whether on this machine, where directories can be looked at."""


async def reach(program: Program, transport: Transport, how: Connection) -> Reach:
    """How to reach the program. Raises :class:`dragoman.errors.AgentError`."""
    if how.address is not None:
        from dragoman.drive.links.sockets import open_address

        if not isinstance(transport, SessionTransport) or not transport.has_address:
            raise UsageError(f"a running server cannot be reached by transport {transport.name!r}")
        address, token = how.address, how.token

        def attach(launch: Launch) -> OpenLink:
            return open_address(address, token=token)

        return Reach(program="", release=None, open=attach, here=False)
    if how.ssh is not None:
        if transport.framing != "lines":
            raise UsageError(f"transport {transport.name!r} cannot be used over ssh")
        from dragoman.drive.links.ssh import Remote
        from dragoman.drive.links.ssh_link import open_ssh

        remote = how.ssh if isinstance(how.ssh, Remote) else Remote(host=how.ssh)
        secrets = how.keys(program.key_names)

        def start_there(launch: Launch) -> OpenLink:
            return open_ssh(_with_env(launch, how), remote, secrets=secrets)

        command = how.command or program.command
        return Reach(program=command, release=None, open=start_there, here=False)
    words = find_command_line(program, how.command)
    # A program that only the caller knows may do anything when it is asked for its version.
    release = await read_release(words[0], program) if program.command else None
    hidden = tuple(how.keys(program.key_names).values())

    def start(launch: Launch) -> OpenLink:
        # "codex -c key=value app-server" gives arguments; the subcommand is ours.
        own = [word for word in words[1:] if word not in launch.argv[1:2]]
        launch = replace(launch, argv=(launch.argv[0], *own, *launch.argv[1:]))
        launch = _with_env(launch, how)
        if isinstance(transport, SessionTransport) and transport.http is not None:
            from dragoman.drive.links.http_link import open_http

            return open_http(launch, transport.http, secrets=hidden)
        is_framed = transport.framing == "content-length"
        return open_process(launch, secrets=hidden, is_framed=is_framed)

    return Reach(program=words[0], release=release, open=start, here=True)


def _with_env(launch: Launch, how: Connection) -> Launch:
    return replace(launch, env={**launch.env, **how.env})


def named_agent(
    agent: str | None, harness: str | None, command: str | None
) -> tuple[str | None, str | None]:
    """The harness and the command for an agent that is named by its command. Raises :class:`UsageError`."""
    if agent is None:
        return harness, command
    if command is not None or harness not in (None, ANY_PROGRAM):
        raise UsageError(
            "an agent that speaks ACP is named by its command alone, without a harness"
        )
    return ANY_PROGRAM, agent
