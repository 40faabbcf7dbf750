from __future__ import annotations

import pytest

from dragoman.harnesses.codex.exec.ending import ending, how_it_exited, sentence

_GREETING = (
    "WARNING: proceeding, even though we could not create PATH aliases: Refusing to create helper"
    ' binaries under temporary dir "/tmp" (codex_home: AbsolutePathBuf("/tmp/x"))\n'
    "Reading additional input from stdin...\n"
)
_BAD_OPTION = (
    "error: unexpected argument '--nope' found\n\n  tip: to pass '--nope' as a value, use '-- --nope'"
    "\n\nUsage: codex exec [OPTIONS] [PROMPT]\n\nFor more information, try '--help'.\n"
)
_BAD_TOML = (
    "Error loading config.toml:\n/x/config.toml:15:3: unquoted keys cannot be empty\n"
    "   |\n15 | [[[\n   |   ^\n"
)
_LOGGED = "2026-11-16T04:45:31.173612Z ERROR codex_core::session: failed to record rollout items\n"


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        ("", ""),
        (_GREETING, ""),
        (
            _GREETING + "Not inside a trusted directory and --skip-git-repo-check was not specified.\n",
            "Not inside a trusted directory and --skip-git-repo-check was not specified.",
        ),
        (_GREETING + _BAD_OPTION, "error: unexpected argument '--nope' found"),
        (
            _BAD_TOML,
            "Error loading config.toml: /x/config.toml:15:3: unquoted keys cannot be empty"
            " | 15 | [[[ | ^",
        ),
        (_LOGGED + "Error: no rollout found\n" + _LOGGED, "Error: no rollout found"),
        (_GREETING + _LOGGED, "codex_core::session: failed to record rollout items"),
        ("something\nelse\n", "something else"),
        ("\x1b[31mError:\x1b[0m red\r\n", "Error: red"),
        ("chatter\nthread 'main' panicked at core.rs:1:\nboom\n", "thread 'main' panicked at core.rs:1: boom"),
    ],
)  # fmt: skip
def test_of_standard_error_only_the_sentence_about_the_end_is_kept(stderr: str, said: str) -> None:
    assert sentence(stderr) == said


def test_a_long_sentence_is_cut() -> None:
    assert len(sentence("Error: " + "x" * 10_000)) == 500


@pytest.mark.parametrize("code", [0, 1, 2, 101, -2, -9, -15, None])
@pytest.mark.parametrize("began", [True, False])
def test_what_we_stopped_was_interrupted_however_it_went_down(
    code: int | None, began: bool
) -> None:
    assert ending(code, "", began=began, stopped=True) == ("interrupted", None)


@pytest.mark.parametrize("code", [0, -2])
def test_an_interrupt_from_elsewhere_is_an_interrupt(code: int) -> None:
    """Up to 0.115 a run that gets SIGINT exits with status 0, as if all were well."""
    assert ending(code, "", began=True, stopped=False) == ("interrupted", None)


@pytest.mark.parametrize("code", [0, 1, 2, 101, -2, -9, -15, None])
@pytest.mark.parametrize("began", [True, False])
@pytest.mark.parametrize("stopped", [True, False])
def test_an_end_is_never_invented_to_be_a_good_one(
    code: int | None, began: bool, stopped: bool
) -> None:
    outcome, error = ending(code, "", began=began, stopped=stopped)

    assert outcome != "completed"
    assert (error is not None) == (outcome == "failed")


@pytest.mark.parametrize(
    ("code", "stderr", "began", "kind", "retryable", "message"),
    [
        (-9, "", True, "port_exit", True, "codex exec was killed by SIGKILL before the turn had ended"),
        (-9, "", False, "port_exit", True, "codex exec was killed by SIGKILL before the turn had ended"),
        (-15, "", True, "port_exit", True, "codex exec was killed by SIGTERM before the turn had ended"),
        (None, "", True, "port_exit", True, "codex exec was lost before the turn had ended"),
        (1, "", True, "port_exit", True, "codex exec exited with status 1 before the turn had ended"),
        (0, "", False, "port_exit", True, "codex exec exited with status 0 before the turn had ended"),
        (101, "thread 'main' panicked at a:1:\nb", True, "port_exit", True,
         "thread 'main' panicked at a:1: b (exited with status 101)"),
        (2, _BAD_OPTION, False, "response_error", False,
         "error: unexpected argument '--nope' found (exited with status 2)"),
        (1, _GREETING + "Error: Model provider `z` not found\n", False, "response_error", False,
         "Error: Model provider `z` not found (exited with status 1)"),
    ],
)  # fmt: skip
def test_a_failure_says_what_kind_and_whether_to_try_again(
    code: int | None, stderr: str, began: bool, kind: str, retryable: bool, message: str
) -> None:
    outcome, error = ending(code, stderr, began=began, stopped=False)

    assert outcome == "failed"
    assert error is not None
    assert (error.kind, error.retryable, error.message) == (kind, retryable, message)


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    assert how_it_exited(-40) == "was killed by signal 40"
