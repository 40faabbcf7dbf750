"""What is chosen before anything is started."""

from __future__ import annotations

import asyncio

import pytest

from dragoman.client.connection import Connection
from dragoman.client.opening import open_connection, program_of, transport_of
from dragoman.errors import UsageError
from dragoman.harnesses import driven_harness
from dragoman.harnesses.contract.harness import Harness


def test_the_usual_transport_is_the_first_and_others_go_by_name() -> None:
    harness = driven_harness("codex")

    assert transport_of(harness, None).name == "app-server"
    assert transport_of(harness, "exec").name == "exec"


def test_a_transport_that_there_is_not_is_refused_with_those_there_are() -> None:
    async def connect() -> None:
        async with open_connection("codex", Connection(transport="telepathy")):
            pytest.fail("nothing was started")

    with pytest.raises(UsageError, match="no transport 'telepathy'; known: app-server, exec"):
        asyncio.run(connect())


def test_a_harness_that_is_only_read_has_no_program() -> None:
    with pytest.raises(UsageError, match="Reader has no program to start"):
        program_of(Harness(name="reader", title="Reader", dialects=(), sniff=lambda lines: None))
