from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.commands import command_line, patch_in_script, patch_in_words

PATCH = "*** Begin Patch\n*** Add File: added.txt\n+hello\n+world\n*** End Patch"


@pytest.mark.parametrize(
    "command",
    [
        ["bash", "-lc", "echo one"],
        ["/bin/bash", "-lc", "echo one"],
        ["bash", "-c", "echo one"],
        ["/usr/bin/zsh", "-lc", "echo one"],
        ["sh", "-c", "echo one"],
        ["C:\\Program Files\\Git\\bin\\bash.exe", "-lc", "echo one"],
        ["powershell.exe", "-Command", "echo one"],
        ["pwsh", "-NoLogo", "-NoProfile", "-Command", "echo one"],
        ["C:\\Program Files\\PowerShell\\7\\pwsh.exe", "-command", "echo one"],
        ["cmd.exe", "/c", "echo one"],
        ["C:\\Windows\\System32\\CMD.EXE", "/C", "echo one"],
        "bash -lc 'echo one'",
        "/bin/bash -lc 'echo one'",
        '/usr/bin/zsh -lc "echo one"',
        "'/bin/bash' -lc 'echo one'",
        "powershell.exe -Command 'echo one'",
        "cmd /c 'echo one'",
        "echo one",
    ],
    ids=str,
)
def test_a_command_is_what_a_person_would_have_typed(command: Any) -> None:
    assert command_line(command) == "echo one"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        pytest.param(["ls", "-la"], "ls -la", id="no shell"),
        pytest.param(["cat", "my file"], "cat 'my file'", id="no shell, a space"),
        pytest.param(["bash", "-lc", "ls", "extra"], "bash -lc ls extra", id="more words"),
        pytest.param(["bash", "build.sh"], "bash build.sh", id="a script file"),
        pytest.param(["python3", "-c", "print(1)"], "python3 -c 'print(1)'", id="not a shell"),
        pytest.param(["git", "-c", "a=b"], "git -c a=b", id="only the flag of a shell"),
        pytest.param("bash build.sh", "bash build.sh", id="line: a script file"),
        pytest.param("bash -x build.sh", "bash -x build.sh", id="line: another flag"),
        pytest.param("python3 -c 'print(1)'", "python3 -c 'print(1)'", id="line: not a shell"),
        pytest.param("bash -lc 'a' && b", "bash -lc 'a' && b", id="line: more than the shell"),
        pytest.param("bash -lc 'never closed", "bash -lc 'never closed", id="line: broken"),
    ],
)
def test_a_command_that_is_not_just_a_shell_s_script_stays_whole(command: Any, line: str) -> None:
    assert command_line(command) == line


@pytest.mark.parametrize("command", [None, 5, {}, [], ""])
def test_where_there_is_no_command_the_line_is_empty(command: Any) -> None:
    assert command_line(command) == ""


@pytest.mark.parametrize(
    "script",
    [
        "printf 'it'\\''s \"quoted\" $HOME `x` \\\\n'",
        "for i in 1 2; do\n  echo tick $i\ndone",
        "cat <<'EOF'\na 'b' \"c\"\nEOF",
        "echo café 日本語 🚀\u2028",
        " leading and trailing ",
        "bash -lc 'inner'",
    ],
)
def test_quoting_is_undone_and_nothing_else(script: str) -> None:
    quoted = "'" + script.replace("'", "'\"'\"'") + "'"

    assert command_line(["bash", "-lc", script]) == script
    assert command_line(f"/bin/bash -lc {quoted}") == script


@given(st.text(), st.sampled_from(["bash -lc", "/bin/zsh -c", "sh -c"]))
def test_any_script_comes_out_of_its_shell_as_it_went_in(script: str, shell: str) -> None:
    quoted = "'" + script.replace("'", "'\"'\"'") + "'"

    assert command_line([*shell.split(), script]) == script
    assert command_line(f"{shell} {quoted}") == script


@given(st.text() | st.lists(st.text() | st.integers() | st.none()))
def test_no_command_raises(command: Any) -> None:
    assert isinstance(command_line(command), str)


@pytest.mark.parametrize(
    "script",
    [
        f"apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"apply_patch <<'EOF'\n{PATCH}\nEOF\n",
        f"apply_patch <<EOF\n{PATCH}\nEOF",
        f'applypatch << "PATCH"\n{PATCH}\nPATCH',
        f"apply_patch <<-'EOF'\n{PATCH}\n\tEOF\n",
        f"\n  apply_patch <<'EOF'\n{PATCH}\nEOF",
        f"cd /workspace && apply_patch <<'EOF'\n{PATCH}\nEOF",
    ],
)
def test_a_script_that_feeds_a_patch_is_that_patch(script: str) -> None:
    assert patch_in_script(script) == PATCH


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("ls", id="no patch"),
        pytest.param("apply_patch <<'EOF'\nnothing\nEOF", id="no patch in it"),
        pytest.param(f"cat > fix.patch <<'EOF'\n{PATCH}\nEOF", id="another program"),
        pytest.param(f"echo first; apply_patch <<'EOF'\n{PATCH}\nEOF", id="something before"),
        pytest.param(
            f"cd sub0 2>/dev/null; apply_patch \"$(cat <<'EOF'\n{PATCH}\nEOF\n)\"",
            id="through another program",
        ),
        pytest.param(f"apply_patch <<'EOF'\n{PATCH}\n", id="never closed"),
    ],
)
def test_any_other_script_stays_a_script(script: str) -> None:
    assert patch_in_script(script) is None


def test_a_line_of_the_patch_may_look_like_the_end_of_the_heredoc() -> None:
    patch = "*** Begin Patch\n*** Add File: a.sh\n+EOF\n+ EOF2\n*** End Patch"

    assert patch_in_script(f"apply_patch <<'EOF'\n{patch}\nEOF") == patch


@pytest.mark.parametrize("name", ["apply_patch", "applypatch"])
def test_the_patch_tool_called_as_a_program_has_its_patch_as_argument(name: str) -> None:
    assert patch_in_words([name, PATCH]) == PATCH


@pytest.mark.parametrize(
    "command",
    [
        ["apply_patch"],
        ["apply_patch", PATCH, "more"],
        ["git", "apply"],
        ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"],
        f"apply_patch {PATCH}",
        None,
    ],
    ids=["no patch", "two arguments", "another program", "in a shell", "a line", "nothing"],
)
def test_other_words_are_no_patch(command: Any) -> None:
    assert patch_in_words(command) is None
