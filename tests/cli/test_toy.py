"""An agent from another package, driven from the command line without a change to Dragoman."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.toy.installing import Toy, install

SECONDS = 120


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return install(tmp_path)


def dragoman(toy: Toy, *words: str, said: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    folder = toy.home.parent / "work"
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", *words],
        cwd=folder,
        env={**os.environ, **toy.env, **env},
        input=said,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def test_it_is_listed_with_what_it_can_do(toy: Toy) -> None:
    listed = dragoman(toy, "harnesses", "--json")
    known = {each["name"]: each for each in map(json.loads, listed.stdout.splitlines())}

    assert known["toy"]["installed"] is True
    assert known["toy"]["can"] == ["interrupt", "resume"]
    assert [each["value"] for each in known["toy"]["access"]] == ["touch", "look"]
    assert known["codex"]["title"]
    words = dragoman(toy, "harnesses", "toy").stdout
    assert "Toy agent" in words
    assert "look (read): It can only look at the toys." in words


def test_it_runs_a_prompt_with_the_access_that_was_asked_for(toy: Toy) -> None:
    for access in ("read", "look"):
        done = dragoman(toy, "run", "--harness", "toy", "--access", access, "hello")
        assert (done.returncode, done.stderr) == (0, "")
        assert "You said: hello" in done.stdout
    assert dragoman(toy, "run", "--harness", "toy", "-s", "look", "-q", "hi").returncode == 0


def test_what_it_does_not_offer_is_refused_with_what_it_does(toy: Toy) -> None:
    refused = dragoman(toy, "run", "--harness", "toy", "--access", "full", "hello")

    assert refused.returncode == 2
    assert "unknown access 'full'" in refused.stderr
    assert "touch, look" in refused.stderr
    unknown = dragoman(toy, "run", "--harness", "none", "hello")
    assert unknown.returncode == 2
    assert "toy" in unknown.stderr


def test_a_script_can_chat_with_it(toy: Toy) -> None:
    done = dragoman(toy, "chat", "--harness", "toy", said="one\ntwo\n")

    assert done.returncode == 0, done.stderr
    assert done.stdout.index("You said: one") < done.stdout.index("You said: two")


def test_a_turn_that_it_starts_by_itself_is_shown_in_a_chat(toy: Toy) -> None:
    done = dragoman(toy, "chat", "--harness", "toy", said="later\nmore\n")

    assert done.returncode == 0, done.stderr
    for said in ("You said: later", "It is later.", "You said: more"):
        assert done.stdout.count(said) == 1, done.stdout


def test_the_doctor_examines_it(toy: Toy) -> None:
    found = dragoman(toy, "doctor", "--harness", "toy", "--json")
    checks = {each["name"]: each for each in map(json.loads, found.stdout.splitlines())}

    assert found.returncode == 0, found.stdout
    assert checks["program"]["text"].startswith(str(toy.command))
    assert checks["start"]["harness"] == "toy"
    assert "sandbox" not in checks  # it has none to try


def test_without_its_program_the_error_says_how_to_install_it(toy: Toy) -> None:
    toy.command.unlink()

    gone = dragoman(toy, "run", "--harness", "toy", "hello")
    assert gone.returncode == 1
    assert "install toy-agent (there is none)" in gone.stderr
    examined = dragoman(toy, "doctor", "--harness", "toy")
    assert examined.returncode == 1
    assert "there is none" in examined.stdout


def test_a_shell_completes_its_name_and_its_choices(toy: Toy) -> None:
    def completed(words: str) -> str:
        count = str(len(words.split(" ")) - 1)
        how = {"_DRAGOMAN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
        program = "from dragoman.cli.main import dragoman; dragoman(prog_name='dragoman')"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **toy.env, **how},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return done.stdout

    assert "toy" in completed("dragoman run --harness t")
    assert "look" in completed("dragoman run --harness toy --access l")
    assert "small" in completed("dragoman run --harness toy --model s")
