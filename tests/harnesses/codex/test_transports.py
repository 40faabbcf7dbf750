"""How Codex is started and talked to."""

from __future__ import annotations

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.codex import CODEX
from dragoman.harnesses.codex.app_server.client.conversation import AppServerConversation
from dragoman.harnesses.codex.transports import CODEX_DRIVING
from dragoman.harnesses.contract.driving import OneShot


def test_the_harness_says_how_it_is_driven() -> None:
    assert CODEX.driving is CODEX_DRIVING
    assert CODEX_DRIVING.command == "codex"
    assert CODEX.dialect(CODEX_DRIVING.one_shot_dialect) is not None
    assert CODEX_DRIVING.key_names[0] == "CODEX_API_KEY"


@pytest.mark.parametrize("said", ["codex-cli 0.166.0", "codex-cli 0.166.0\n", "0.166.0"])
def test_the_release_is_read_from_what_the_program_prints(said: str) -> None:
    assert CODEX_DRIVING.parse_release(said) == (0, 166, 0)


def test_one_server_serves_many_sessions() -> None:
    launch = CODEX_DRIVING.serve("/bin/codex", (0, 166, 0))
    assert launch.argv == ("/bin/codex", "app-server")
    assert launch.stdin is True
    assert CODEX_DRIVING.serve("/bin/codex", None) == launch
    with pytest.raises(Unsupported, match=r"it needs Codex 0\.66\.0 or later"):
        CODEX_DRIVING.serve("/bin/codex", (0, 44, 0))


def test_a_conversation_knows_the_release() -> None:
    conversation = CODEX_DRIVING.make_conversation((0, 104, 0), None)
    assert isinstance(conversation, AppServerConversation)
    assert conversation.release == (0, 104, 0)


def test_one_prompt_is_a_process_of_its_own() -> None:
    shot = OneShot(prompt="hello", cwd="/w")
    assert CODEX_DRIVING.run_once("/bin/codex", (0, 166, 0), shot).argv[0] == "/bin/codex"


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
    assert CODEX_DRIVING.speaks(release) == said


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
    assert CODEX_DRIVING.approval_modes(release) == modes
