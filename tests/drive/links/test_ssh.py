from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from dragoman.drive.links.link import Exit
from dragoman.drive.links.ssh import Remote, quote, ssh_error, ssh_launch
from dragoman.errors import AgentNotFound, InvalidWorkspace, ProcessExited, UsageError
from dragoman.harnesses.contract.transport import Launch
from support.agents.remote_ends import SECONDS, missing

KEY = "sk-0123456789abcdefghij-the-key"
NAME = "CODEX_API_KEY"


# The plan.


def test_the_plan_is_ssh_with_the_options_that_never_ask_and_notice_a_dead_connection() -> None:
    launch = Launch(argv=("codex", "app-server"), cwd="/srv/it's here")

    plan = ssh_launch(launch, Remote(host="box", user="ann", port=2222, identity="~/.ssh/k"))

    assert plan.argv[:-1] == (
        *("ssh", "-T", "-p", "2222", "-l", "ann", "-i", "~/.ssh/k"),
        *("-o", "IdentitiesOnly=yes"),
        *("-o", "StrictHostKeyChecking=accept-new", "-o", "BatchMode=yes"),
        *("-o", "ConnectTimeout=30", "-o", "ServerAliveInterval=15"),
        *("-o", "ServerAliveCountMax=3", "-o", "ControlPath=none", "--", "box"),
    )
    assert plan.argv[-1].startswith('exec sh -c \'cd "$1" || exit 123; shift;')
    assert plan.argv[-1].endswith("' 'dragoman' '/srv/it'\\''s here' 'codex' 'app-server'")
    assert plan.cwd is None
    assert plan.stdin


def test_keys_and_environment_are_in_the_preamble_and_nowhere_else() -> None:
    launch = Launch(argv=("codex",), env={"CODEX_HOME": "/srv/ö home"}, stdin=False)

    plan = ssh_launch(launch, Remote(host="box"), secrets={NAME: KEY})

    assert plan.preamble == f"/srv/ö home\n{KEY}\n".encode()
    assert not plan.env
    assert plan.stdin  # for the preamble; the agent's own is empty
    assert KEY not in repr(plan)
    assert 'exec "$@" </dev/null' in plan.argv[-1]


def test_without_anything_to_say_standard_input_stays_empty() -> None:
    assert not ssh_launch(Launch(argv=("codex",), stdin=False), Remote(host="box")).stdin


def test_options_of_the_caller_come_first_for_the_first_wins() -> None:
    plan = ssh_launch(
        Launch(argv=("codex",)), Remote(host="box", options=("ConnectTimeout=3",), host_keys="yes")
    )

    assert plan.argv[2:6] == ("-o", "ConnectTimeout=3", "-o", "StrictHostKeyChecking=yes")


@pytest.mark.parametrize(
    "host", ["-oProxyCommand=touch /tmp/x", "", "a b", "$(x)", "a;b", "a\nb", "`x`"]
)
def test_a_host_that_could_be_something_else_is_refused(host: str) -> None:
    with pytest.raises(UsageError):
        Remote(host=host)
    if host:
        with pytest.raises(UsageError):
            Remote(host="box", user=host)


def test_what_cannot_be_sent_is_refused_without_showing_it() -> None:
    remote = Remote(host="box")
    with pytest.raises(UsageError, match="CODEX_API_KEY") as caught:
        ssh_launch(Launch(argv=("codex",)), remote, secrets={NAME: f"{KEY}\nmore"})
    assert KEY not in str(caught.value)
    with pytest.raises(UsageError):
        ssh_launch(Launch(argv=("codex",)), remote, secrets={"A; rm -rf": KEY})
    with pytest.raises(UsageError):
        ssh_launch(Launch(argv=("co\0dex",)), remote)
    with pytest.raises(InvalidWorkspace):
        ssh_launch(Launch(argv=("codex",), cwd="here"), remote)


@pytest.mark.parametrize("word", ["", "it's", "''", "a b", '$HOME `x` \\ " *', "ünïcode ☃", "\n"])
def test_a_quoted_word_is_one_word_to_a_shell(word: str) -> None:
    assert shlex.split(quote(word)) == [word]
    done = subprocess.run(["sh", "-c", f"printf %s {quote(word)}"], capture_output=True, check=True)
    assert done.stdout.decode() == word


# What an exit code means.

LAUNCH = Launch(argv=("codex", "app-server"), cwd="/srv/w")
BOX = Remote(host="box")


def test_255_is_a_connection_that_failed_in_the_words_of_ssh() -> None:
    stderr = "Warning: something\r\nssh: connect to host box port 22: Connection refused\r\n"

    error = ssh_error(BOX, LAUNCH, Exit(code=255), stderr)

    assert isinstance(error, ProcessExited)
    assert (error.kind, error.exit_code, error.retryable) == ("port_exit", 255, True)
    assert str(error) == (
        "could not connect to box (ssh: connect to host box port 22: Connection refused)"
    )


def test_127_is_an_agent_that_is_not_there() -> None:
    error = ssh_error(BOX, LAUNCH, Exit(code=127), "codex: not found")

    assert isinstance(error, AgentNotFound)
    assert str(error) == "'codex' is not on the PATH of box (codex: not found)"


def test_other_codes_say_what_happened_before_the_agent_ran() -> None:
    ended = Exit(code=1, reason="exited with status 1")

    assert isinstance(ssh_error(BOX, LAUNCH, Exit(code=126), ""), AgentNotFound)
    assert str(ssh_error(BOX, LAUNCH, Exit(code=123), "")) == "/srv/w cannot be entered on box"
    assert str(ssh_error(BOX, LAUNCH, ended, "")) == (
        "ssh to box exited with status 1 before the agent ran"
    )


# The script.


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process of another user")
def test_a_server_that_cannot_be_watched_does_not_cost_the_agent_its_life() -> None:
    plan = ssh_launch(Launch(argv=("sh", "-c", "sleep 3; echo alive")), Remote(host="box"))

    done = subprocess.run(
        ["sh", "-c", plan.argv[-1]],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        user=65534,
        start_new_session=True,
        cwd="/",
    )

    assert done.stdout.endswith(b"alive\n"), done


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox sh", "ksh", "zsh", "fish"])
def test_the_command_is_understood_by_other_shells(shell: str, tmp_path: Path) -> None:
    """sshd gives the command to the user's own shell; the script is for whatever sh is there."""
    words = shell.split()
    if shutil.which(words[0]) is None:
        missing(f"there is no {words[0]} here")
    launch = Launch(argv=("printenv", NAME), cwd=str(tmp_path))
    plan = ssh_launch(launch, Remote(host="box"), secrets={NAME: "it's a $key ☃"})
    as_outer = plan.argv[-1]
    as_inner = as_outer.replace("exec sh -c", f"exec {shell} -c", 1)
    for command in {as_outer, as_inner} if words[0] != "fish" else {as_outer}:
        done = subprocess.run(
            [*words, "-c", command], input=plan.preamble, capture_output=True, timeout=SECONDS
        )
        assert done.stdout.decode() == "dragoman: here is the agent\nit's a $key ☃\n", done
