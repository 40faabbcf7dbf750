from __future__ import annotations

import pytest

from dragoman.model.shells import ShellCall, shell_call


@pytest.mark.parametrize(
    ("words", "family"),
    [
        (["bash", "-lc", "x"], "posix"),
        (["/bin/bash", "-lc", "x"], "posix"),
        (["/usr/bin/zsh", "-c", "x"], "posix"),
        (["/opt/homebrew/bin/fish", "-c", "x"], "posix"),
        (["sh", "-ec", "x"], "posix"),
        (["bash", "-l", "-c", "x"], "posix"),
        (["bash", "--login", "-c", "x"], "posix"),
        (["bash", "--norc", "--noprofile", "-c", "x"], "posix"),
        (["bash", "-euo", "pipefail", "-c", "x"], "posix"),
        (["bash", "-o", "pipefail", "-c", "x"], "posix"),
        (["bash", "-eu", "-o", "pipefail", "-c", "x"], "posix"),
        (["C:\\Program Files\\Git\\bin\\bash.exe", "-lc", "x"], "posix"),
        (["pwsh", "-NoProfile", "-Command", "x"], "powershell"),
        (["PowerShell.EXE", "-command", "x"], "powershell"),
        (["cmd.exe", "/C", "x"], "cmd"),
    ],
)
def test_a_known_shell_with_known_flags_runs_its_script(words: list[str], family: str) -> None:
    assert shell_call(words) == ShellCall(tuple(words[:-1]), "x", family)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["bash"],
        ["bash", "-c"],
        ["/ws/src/bash", "-lc", "x"],
        ["./bash", "-lc", "x"],
        ["/bin/../ws/bash", "-c", "x"],
        ["/bin//bash", "-c", "x"],
        ["BASH", "-c", "x"],
        ["C:\\evil\\bash.exe", "-lc", "x"],
        ["evil/bash.exe", "-lc", "x"],
        ["bash", "-lc", "x", "more"],
        ["bash", "-c", "x", "-c", "y"],
        ["bash", "-ic", "x"],
        ["bash", "-xc", "x"],
        ["bash", "-sc", "x"],
        ["bash", "--rcfile", "f", "-c", "x"],
        ["bash", "--init-file=f", "-c", "x"],
        ["bash", "-O", "extdebug", "-c", "x"],
        ["bash", "-o", "posix", "-c", "x"],
        ["bash", "-o", "-c", "x"],
        ["bash", "+c", "-c", "x"],
        ["bash", "x.sh", "-c", "x"],
        ["bash", "--", "-c", "x"],
        ["bash", "-", "x"],
        ["pwsh", "-File", "e.ps1", "-Command", "x"],
        ["pwsh", "-EncodedCommand", "x"],
        ["pwsh", "-NoExit", "-Command", "x"],
        ["./pwsh", "-Command", "x"],
        ["cmd", "/k", "x"],
        ["cmd", "/c", "x", "y"],
        ["csh", "-c", "x"],
        ["python", "-c", "x"],
    ],
)
def test_any_other_call_is_a_program_like_any_other(words: list[str]) -> None:
    assert shell_call(words) is None
