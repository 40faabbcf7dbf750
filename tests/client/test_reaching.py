import asyncio

import pytest

from dragoman.client.connection import Connection
from dragoman.client.reaching import reach
from dragoman.errors import AgentNotFound, UsageError
from dragoman.harnesses import HARNESSES

_DRIVING = next(one.driving for one in HARNESSES if one.driving is not None)


def test_a_program_here_is_found_and_asked_for_its_release(codex: str) -> None:
    reached = asyncio.run(reach(_DRIVING, Connection(command=codex)))
    assert (reached.program, reached.here) == (codex, True)
    assert reached.release is not None
    assert reached.release >= (0, 150, 0)


def test_what_is_elsewhere_is_not_looked_for_here() -> None:
    over_ssh = asyncio.run(reach(_DRIVING, Connection(ssh="example.test", command="/opt/codex")))
    assert (over_ssh.program, over_ssh.here, over_ssh.release) == ("/opt/codex", False, None)
    attached = asyncio.run(reach(_DRIVING, Connection(address="unix:///run/agent.sock")))
    assert not attached.here


def test_a_server_that_is_there_takes_no_single_prompts() -> None:
    with pytest.raises(UsageError, match="has no mode 'exec'"):
        asyncio.run(reach(_DRIVING, Connection(mode="exec", address="unix:///run/agent.sock")))


def test_a_program_that_is_not_there_is_an_error_with_the_way_out() -> None:
    with pytest.raises(AgentNotFound, match="say where it is"):
        asyncio.run(reach(_DRIVING, Connection(command="/no/such/program")))
