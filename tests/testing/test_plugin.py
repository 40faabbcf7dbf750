"""The plugin as users have it: in a pytest run of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

_SECONDS = 120
_TESTS = """
import os
import subprocess
import urllib.request

from dragoman.rehearsal import Faults


def test_a_rehearsal_is_in_the_environment(rehearsal):
    stage = rehearsal("- say: Hello.", retries=1)
    assert os.environ["CODEX_HOME"] == str(stage.codex_home)
    request = urllib.request.Request(stage.url + "/responses", b'{"input": "hi"}')
    answer = urllib.request.urlopen(request, timeout=20).read()
    assert b"Hello." in answer
    assert [asked.place.prompt for asked in stage.requests] == ["hi"]


def test_two_rehearsals_do_not_share(rehearsal):
    one, two = rehearsal("- say: One."), rehearsal("- say: Two.")
    assert one.codex_home != two.codex_home
    assert os.environ["CODEX_HOME"] == str(two.codex_home)


def test_the_home_is_empty_and_ones_own(codex_home):
    assert os.environ["CODEX_HOME"] == str(codex_home)
    assert list(codex_home.iterdir()) == []


def test_a_fake_is_first_on_the_path(fake_codex, tmp_path):
    recording = tmp_path / "run.jsonl"
    recording.write_text('{"type":"thread.started"}\\n{"type":"turn.started"}\\n')
    fake_codex(recording, faults=Faults(crash=1))
    done = subprocess.run(["codex", "exec", "hi"], capture_output=True, timeout=20)
    assert (done.returncode, done.stdout) == (101, b'{"type":"thread.started"}\\n')


def test_the_real_programs_can_be_asked_for(codex_program, claude_program):
    assert os.access(codex_program, os.X_OK)
    assert os.access(claude_program, os.X_OK)


def test_a_rehearsal_for_the_other_agent(rehearsal):
    stage = rehearsal("- say: Hello.", agent="claude")
    assert os.environ["HOME"] == str(stage.claude_home)
    assert stage.url == os.environ["ANTHROPIC_BASE_URL"] + "/v1"
"""


def _pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    """Pytest with our plugin and no other that this machine happens to have."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "dragoman.testing.plugin"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def test_it_is_found_by_pytest_itself() -> None:
    found = [each.value for each in entry_points(group="pytest11") if each.name == "dragoman"]
    assert found == ["dragoman.testing.plugin"]


def test_every_fixture_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(_TESTS, encoding="utf-8")

    done = _pytest(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert " failed" not in done.stdout


def test_a_run_that_rehearses_nothing_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\n\ndef test_imports():\n"
        "    assert 'dragoman.testing.plugin' in sys.modules\n"
        "    for name in ('dragoman.rehearsal', 'msgspec', 'yaml', 'asyncio.base_events'):\n"
        "        assert name not in sys.modules\n",
        encoding="utf-8",
    )

    done = _pytest(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
