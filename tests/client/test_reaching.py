import asyncio

import pytest

from dragoman.client.connection import Connection
from dragoman.client.reaching import Reach, reach
from dragoman.errors import AgentNotFound, UsageError
from dragoman.harnesses import harness


async def _reach(how: Connection, transport: str = "app-server") -> Reach:
    codex = harness("codex")
    chosen = codex.transport(transport)
    assert codex.program is not None
    assert chosen is not None
    return await reach(codex.program, chosen, how)


def test_a_program_here_is_found_and_asked_for_its_release(codex: str) -> None:
    reached = asyncio.run(_reach(Connection(command=codex)))
    assert (reached.program, reached.here) == (codex, True)
    assert reached.release is not None
    assert reached.release >= (0, 150, 0)


def test_what_is_elsewhere_is_not_looked_for_here() -> None:
    over_ssh = asyncio.run(_reach(Connection(ssh="example.test", command="/opt/codex")))
    assert (over_ssh.program, over_ssh.here, over_ssh.release) == ("/opt/codex", False, None)
    attached = asyncio.run(_reach(Connection(address="unix:///run/agent.sock")))
    assert not attached.here


def test_a_server_that_is_there_takes_no_single_prompts() -> None:
    with pytest.raises(UsageError, match="by transport 'exec'"):
        asyncio.run(_reach(Connection(address="unix:///run/agent.sock"), "exec"))


def test_a_program_that_is_not_there_is_an_error_with_the_way_out() -> None:
    with pytest.raises(AgentNotFound, match="say where it is"):
        asyncio.run(_reach(Connection(command="/no/such/program")))
