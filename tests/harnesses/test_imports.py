"""What the registry may import: what a harness is called and where things are, and nothing that works."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dragoman.harnesses import HARNESSES

WIRING = frozenset(
    (
        "care",
        "dialects",
        "history",
        "limits",
        "playback",
        "sniff",
        "transports",
        "release",
        "writing",
    )
)
"""The modules of a harness that name what it offers. ``release`` is the one that is played."""
FACTS = {
    "acp": {"quirks"},
    "claude": {"driving", "playback.claude", "sign_in"},
    "gemini": {"program", "sign_in"},
    "copilot": {"driving", "playback.copilot", "sign_in"},
    "opencode": {"driving", "playback.opencode", "sign_in"},
    "qwen": {"driving", "playback.qwen", "sign_in"},
    "codex": {
        "app_server",
        "app_server.client",
        "app_server.client.features",
        "home",
        "home.remembered_rules",
        "playback.codex",
        "values",
        "values.loose",
        "versions",
    },
}
"""Modules of a harness with nothing but the facts that its wiring is made of, and their packages."""


@pytest.fixture(scope="module")
def imported() -> list[str]:
    """The modules that an interpreter has after it imported the registry and listed the dialects."""
    script = (
        "import sys, dragoman.harnesses as all_of_them\n"
        "all_of_them.find_dialect('codex-rollout'), all_of_them.harness('claude')\n"
        "print('\\n'.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True, timeout=60
    )
    return done.stdout.split()


def test_a_harness_imports_only_its_wiring(imported: list[str]) -> None:
    prefix = "dragoman.harnesses."
    others = {"assembly", "contract", "plugins"}
    working: list[str] = []
    for name in imported:
        folder, _, module = name.removeprefix(prefix).partition(".")
        if not name.startswith(prefix) or not module or folder in others:
            continue
        if module.rpartition(".")[2] not in WIRING and module not in FACTS.get(folder, ()):
            working.append(name)

    assert working == []


def test_no_parser_and_nothing_that_assembles_drives_or_waits_is_imported(
    imported: list[str],
) -> None:
    never = ("asyncio", "dragoman.harnesses.assembly", "dragoman.drive", "dragoman.reading")

    assert [name for name in imported if name.startswith(never)] == []
    assert [name for name in imported if name.endswith(".parser") and "dragoman" in name] == []


def test_what_is_imported_later_works() -> None:
    for harness in HARNESSES:
        for dialect in harness.dialects:
            parser = dialect.make_parser(only=None, audit=True)
            parser.receive_line(b"{}\n")
            parser.receive_eof()
            assert [each.line for each in parser.messages()] == [1], dialect.name
