from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

_SECONDS = 60
_ASK = """
import os, pathlib, sys, tomllib, urllib.request
home = pathlib.Path(os.environ["CODEX_HOME"])
config = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
url = config["model_providers"]["rehearsal"]["base_url"] + "/responses"
for prompt in sys.argv[1:]:
    body = ('{"input": "%s"}' % prompt).encode()
    answer = urllib.request.urlopen(urllib.request.Request(url, body), timeout=20).read()
    print("heard", b"Hello." in answer)
print(config["model"])
sys.exit(5)
"""
_PROGRAM = [
    sys.executable,
    "-c",
    "import sys\nfrom dragoman.cli.commands.rehearse import rehearse\n"
    "from dragoman.errors import UsageError\n"
    "try:\n    sys.exit(rehearse.main(standalone_mode=False))\n"
    "except UsageError as problem:\n    print(problem, file=sys.stderr)\n    sys.exit(2)\n",
]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "hello.yaml"
    path.write_text("turns: [{when: hi, steps: [{say: Hello.}]}]", encoding="utf-8")
    return path


def _rehearse(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def test_a_command_runs_against_the_script_and_gives_its_exit_code(script: Path) -> None:
    done = _rehearse(script, "--model", "m", "--", sys.executable, "-c", _ASK, "hi")

    assert (done.returncode, done.stdout, done.stderr) == (5, "heard True\nm\n", "")


def test_requests_that_the_script_is_not_for_are_told(script: Path) -> None:
    done = _rehearse(script, "--", sys.executable, "-c", _ASK, "hi", "what?")

    assert done.stdout == "heard True\nheard False\ngpt-5.5\n"
    assert done.stderr == "dragoman: the script has no reply for 1 of 2 requests\n"


def test_a_bad_script_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("- sya: Hello.", encoding="utf-8")

    done = _rehearse(path, "--", "true")

    assert done.returncode == 2
    assert done.stderr == f"{path}: line 1, step 1: there is no step 'sya'; did you mean 'say'?\n"


def test_a_command_that_is_not_there_is_one_sentence(script: Path) -> None:
    done = _rehearse(script, "--", "no-such-program")

    assert done.returncode == 2
    assert done.stderr == "cannot run no-such-program: no such file or directory\n"


def test_the_home_directory_can_be_kept(script: Path, tmp_path: Path) -> None:
    home = tmp_path / "kept"

    done = _rehearse(script, "--keep", home, "--retries", "3", "--", "true")

    assert done.returncode == 0
    assert "request_max_retries = 3" in (home / "config.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_a_command_it_serves_until_it_is_told_to_stop(
    script: Path, number: signal.Signals
) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*_PROGRAM, str(script)], stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        line = child.stdout.readline()
        url = child.stderr.readline().split(" at ")[1].split(";")[0]
        request = urllib.request.Request(f"{url}/responses", b'{"input": "hi"}')
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert b"Hello." in answer.read()
        child.send_signal(number)
        assert child.wait(_SECONDS) == 0

    assert line.startswith("export CODEX_HOME=")
    assert not os.path.exists(line.strip().partition("=")[2])


def test_when_it_is_told_to_stop_the_command_stops_as_well(script: Path, tmp_path: Path) -> None:
    words = [*_PROGRAM, str(script), "--", "/bin/sh", "-c", "echo $$; exec sleep 60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        command = int(child.stdout.readline())
        child.terminate()
        assert child.wait(_SECONDS) == 128 + signal.SIGTERM

    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)
