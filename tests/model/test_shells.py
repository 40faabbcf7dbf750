from __future__ import annotations

import pytest

from dragoman.model.shells import ShellCall, is_users_shell, shell_call


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


SHELLS = {
    "/bin/zsh -lc": True,
    "zsh -c": True,
    "/usr/bin/zsh -lc": True,
    "/bin/bash -lc": False,  # a shell of the system, but not the user's
    "/usr/bin/sh -c": False,
    "/tmp/ws/zsh -lc": False,
    "./zsh -lc": False,
    "src/zsh -lc": False,
    "/bin/zsh --rcfile evil -c": False,
    "/bin/zsh -ic": False,
    "pwsh -Command": False,
    "zsh '": False,
    "": False,
}


@pytest.mark.parametrize(("shell", "own"), SHELLS.items(), ids=SHELLS)
def test_a_shell_is_the_users_by_its_name_its_place_and_its_flags(shell: str, own: bool) -> None:
    assert is_users_shell(shell, {"SHELL": "/bin/zsh"}) is own


def test_without_a_shell_of_their_own_it_is_bash_or_sh() -> None:
    assert is_users_shell("/bin/bash -lc", {})
    assert is_users_shell("/bin/sh -c", {"SHELL": ""})
    assert not is_users_shell("/bin/zsh -lc", {})
    assert not is_users_shell("/tmp/bash -lc", {})
    assert is_users_shell("/home/u/bin/fish -c", {"SHELL": "/home/u/bin/fish"})
