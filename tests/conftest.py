"""What all tests share."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import settings

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytest_plugins = ["support.isolation", "support.agents.fixtures", "support.toy.fixtures"]

Compress: TypeAlias = Callable[[bytes], bytes]

settings.register_profile("dragoman", deadline=None, derandomize=True)
settings.load_profile("dragoman")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the messages into the golden files; read them before you commit",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Most tests wait for a process or a browser: two workers for each processor keep it busy."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session")
def data() -> Path:
    """The recordings that come with the project."""
    return Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def runs(data: Path) -> Path:
    """Live streams of Codex and the session files that the same runs left."""
    return data / "codex" / "runs"


@pytest.fixture(params=["gzip", "zstd"])
def compress(request: pytest.FixtureRequest) -> Compress:
    """Each compression that reading undoes, one after the other."""
    return {"gzip": gzip.compress, "zstd": zstd.compress}[request.param]
