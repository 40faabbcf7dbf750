"""How Codex is started and talked to."""

from __future__ import annotations

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.codex import CODEX
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.capabilities import capabilities
from dragoman.harnesses.codex.transports import (
    CODEX_PROGRAM,
    launch_server,
    launch_turn,
    make_conversation,
)
from dragoman.harnesses.contract.transport import OneShot


def test_the_harness_says_how_it_is_driven() -> None:
    assert CODEX.program is CODEX_PROGRAM
    assert CODEX_PROGRAM.command == "codex"
    assert [each.name for each in CODEX.transports] == ["app-server", "exec"]
    assert all(CODEX.dialect(each.dialect) is not None for each in CODEX.transports)
    assert CODEX.transport() is CODEX.transports[0]
    assert CODEX_PROGRAM.key_names[0] == "CODEX_API_KEY"


@pytest.mark.parametrize("said", ["codex-cli 0.166.0", "codex-cli 0.166.0\n", "0.166.0"])
def test_the_release_is_read_from_what_the_program_prints(said: str) -> None:
    assert CODEX_PROGRAM.parse_release(said) == (0, 166, 0)


def test_one_server_serves_many_sessions() -> None:
    launch = launch_server("/bin/codex", (0, 166, 0), None)
    assert launch.argv == ("/bin/codex", "app-server")
    assert launch.stdin is True
    assert launch_server("/bin/codex", None, None) == launch
    with pytest.raises(Unsupported, match=r"it needs Codex 0\.66\.0 or later"):
        launch_server("/bin/codex", (0, 44, 0), None)


def test_a_conversation_knows_the_release() -> None:
    conversation = make_conversation((0, 104, 0), None)
    assert isinstance(conversation, AppServerConversation)
    assert conversation.release == (0, 104, 0)


def test_one_prompt_is_a_process_of_its_own() -> None:
    shot = OneShot(prompt="hello", cwd="/w")
    assert launch_turn("/bin/codex", (0, 166, 0), shot).argv[0] == "/bin/codex"


@pytest.mark.parametrize(
    ("release", "said"),
    [
        (None, ["codex app-server, threads", "codex exec --json", "session files, paginated"]),
        ((0, 20, 0), ["codex exec --json, core events", "codex proto", "session files, flat"]),
        (
            (0, 104, 0),
            [
                "codex app-server, threads",
                "codex app-server, conversations",
                "codex exec --json",
                "codex mcp-server",
                "session files, legacy",
            ],
        ),
    ],
)
def test_what_a_release_speaks(release: tuple[int, int, int] | None, said: list[str]) -> None:
    assert CODEX_PROGRAM.speaks(release) == said


@pytest.mark.parametrize(
    ("release", "modes"),
    [
        ((0, 104, 0), ("on-request", "untrusted", "on-failure", "never")),
        ((0, 169, 0), ("on-request", "untrusted", "never")),
        (None, ("on-request", "untrusted", "never")),
    ],
)
def test_when_a_release_can_be_told_to_ask(
    release: tuple[int, int, int] | None, modes: tuple[str, ...]
) -> None:
    assert tuple(choice.value for choice in capabilities(release).asking) == modes
