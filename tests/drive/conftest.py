"""What the tests of the engine room share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.agents.remote_ends import Sshd, running_sshd


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A real ``sshd`` on the loopback interface, with keys of its own."""
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server
