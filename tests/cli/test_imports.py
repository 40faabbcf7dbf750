"""What each command that people wait for may import: these lists grow only on purpose.

A module that is imported by the way costs every start. Where a list has to grow, measure what that costs
(``make bench ROWS="starting usage archive first-output"``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_DATA = Path(__file__).parents[1] / "data" / "codex" / "codex-rollout"
_SECONDS = 60
_LIST = """
import sys
from dragoman.cli.main import main
main(sys.argv[1:])
sys.stderr.write("\\nimported: " + " ".join(sys.modules))
"""
_UNTIL_A_PROCESS = """
import os, sys, _posixsubprocess

def spawn(*_):
    sys.stderr.write("\\nimported: " + " ".join(sys.modules))
    sys.stderr.flush()
    os._exit(0)

_posixsubprocess.fork_exec = spawn
from dragoman.cli.main import main
main(sys.argv[1:])
"""
_START = "about errors cli cli.declaring cli.lazy_click cli.main cli.streams"
_FINDING = """
archive archive.finding archive.homes archive.sealed cli.agent_option cli.commands cli.completing folders model
model.homes reading
"""
_STORED = """
archive.api archive.index archive.index.keeping archive.index.names archive.places archive.saved cli.archive_options
reading.writers store store.database store.files store.locking store.schema store.sessions
"""
_LEDGER = """
archive.folders archive.ledger archive.ledger.entries archive.ledger.files archive.ledger.groups archive.ledger.ledger
archive.ledger.merging archive.ledger.own_prices archive.ledger.prices archive.ledger.rate_limits
archive.ledger.reported cli.reports cli.reports.usage cli.reports.usage_table cli.tables cli.widths model.usage
reading.regular rendering rendering.harmless
"""
_SEARCH = """
archive.search archive.search.scanning archive.search.searching archive.search.snippets reading.compression
reading.file_lines reading.growing reading.regular reading.sources rendering rendering.harmless store.entries
store.queries store.search wire wire.lines
"""
_COSTS = "archive.folders archive.ledger archive.ledger.costs cli.tables cli.widths reading.ages"
_NEVER = """
asyncio backports click dataclasses email hashlib importlib.metadata inspect logging markdown_it msgpack pathlib shutil
socket subprocess tempfile threading typing_extensions wcwidth yaml zipfile
"""
WARM = {
    "usage": ("usage", [_START, _FINDING, _LEDGER, "archive.places cli.commands.usage"]),
    "sessions": ("sessions", [_START, _FINDING, _STORED, _COSTS, "cli.commands.sessions"]),
    "search": ("search hello", [_START, _FINDING, _STORED, _SEARCH, "cli.commands.search"]),
}


def imported(script: str, env: dict[str, str], words: list[str], cwd: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    _, mark, modules = done.stderr.rpartition("\nimported: ")
    assert mark, done.stderr
    return modules.split()


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home with one session, and caches that know it."""
    folder = tmp_path_factory.mktemp("imports")
    sessions = folder / "codex" / "sessions" / "2026" / "11" / "15"
    sessions.mkdir(parents=True)
    recorded = next(iter(sorted(_DATA.glob("*/wire.jsonl"))))
    name = "rollout-2026-11-15T09-00-00-01a1e150-0007-7a30-8813-000000000007.jsonl"
    shutil.copyfile(recorded, sessions / name)
    for path in (
        sessions / name,
        sessions,
        *sessions.parents[:3],
    ):  # what changed just now is looked at again
        os.utime(path, (1_794_800_000, 1_794_800_000))
    given = {
        **os.environ,
        "HOME": str(folder),
        "CODEX_HOME": str(folder / "codex"),
        "DRAGOMAN_CACHE": str(folder / "cache"),
    }
    for command in ("usage", "sessions"):
        imported(_LIST, given, [command], folder)
    return given


@pytest.mark.parametrize(("words", "lists"), WARM.values(), ids=WARM)
def test_a_command_imports_what_it_needs_and_nothing_else(
    words: str, lists: list[str], env: dict[str, str], tmp_path: Path
) -> None:
    found = imported(_LIST, env, words.split(), tmp_path)

    allowed = {f"dragoman.{name}" for each in lists for name in each.split()} | {"dragoman"}
    assert sorted({name for name in found if name.startswith("dragoman")} - allowed) == []
    assert sorted(set(_NEVER.split()) & set(found)) == []


def test_one_new_row_is_indexed_without_what_only_large_updates_need(
    env: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "home"
    shutil.copytree(env["HOME"], folder)
    given = {
        **env,
        "HOME": str(folder),
        "CODEX_HOME": str(folder / "codex"),
        "DRAGOMAN_CACHE": str(folder / "own-cache"),
    }
    imported(_LIST, given, ["sessions"], tmp_path)
    path = next((folder / "codex" / "sessions").rglob("*.jsonl"))
    row = '{"timestamp":"2026-12-31T10:00:00.000Z","type":"event_msg","payload":%s}\n'
    with path.open("a") as file:
        file.write(row % '{"type":"agent_message","message":"zebra crossing"}')

    found = imported(_LIST, given, ["search", "zebra"], tmp_path)

    assert "dragoman.archive.index.updating" in found, "nothing was indexed"
    assert "dragoman.harnesses.codex.rollout.parser" in found
    assert (
        sorted({"asyncio", "hashlib", "importlib.metadata", "logging", "subprocess"} & set(found))
        == []
    )


def test_help_imports_nothing_but_click(env: dict[str, str], tmp_path: Path) -> None:
    found = imported(_LIST, env, ["--help"], tmp_path)

    allowed = {f"dragoman.{name}" for name in f"{_START} cli.group".split()} | {"dragoman"}
    assert sorted({name for name in found if name.startswith("dragoman")} - allowed) == []
    assert not {"msgspec", "asyncio", "dataclasses", "pathlib"} & set(found)


NOT_BEFORE_THE_AGENT = (
    *(
        "dragoman.archive",
        "dragoman.export.messages",
        "dragoman.hub",
        "dragoman.store",
        "dragoman.web",
    ),
    *(
        "dragoman.rendering",
        "dragoman.reading.read",
        "dragoman.cli.live.lines",
        "dragoman.cli.live.view",
    ),
    *("dragoman.harnesses.assembly", "dragoman.harnesses.acp", "dragoman.harnesses.any_acp"),
    *("dragoman.harnesses.claude", "dragoman.harnesses.copilot", "dragoman.harnesses.gemini"),
    *("dragoman.harnesses.opencode", "dragoman.harnesses.qwen", "dragoman.export.text"),
    *(
        "dragoman.harnesses.codex.exec",
        "dragoman.harnesses.codex.items",
        "dragoman.model.secrets.finding",
    ),
    *("click", "markdown_it", "sqlite3", "tomllib", "typing_extensions", "wcwidth", "yaml"),
)


def test_run_starts_a_process_before_it_imports_what_reads_it(
    env: dict[str, str], tmp_path: Path
) -> None:
    words = ["run", "hi", "--exec", "--to", "messages", "--command", sys.executable]

    found = imported(_UNTIL_A_PROCESS, env, words, tmp_path)

    too_early = tuple(f"{name}." for name in NOT_BEFORE_THE_AGENT)
    assert sorted(name for name in found if f"{name}.".startswith(too_early)) == []
    assert "dragoman.harnesses.codex" in found
