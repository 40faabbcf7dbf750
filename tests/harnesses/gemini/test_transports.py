"""How Gemini CLI is started, and that it is driven as what it is."""

from __future__ import annotations

import pytest

from dragoman.errors import Unsupported
from dragoman.harnesses.gemini import GEMINI
from dragoman.harnesses.gemini.playback import serve
from dragoman.harnesses.gemini.transports import GEMINI_TRANSPORTS
from dragoman.model.intents import OpenSession

(_ACP,) = GEMINI_TRANSPORTS


@pytest.mark.parametrize(
    ("access", "option"),
    [("default", "default"), ("autoEdit", "auto_edit"), ("plan", "plan"), ("yolo", "yolo")],
)
def test_the_mode_is_an_option_so_that_the_answer_confirms_it(access: str, option: str) -> None:
    launch = _ACP.launch("gemini", None, OpenSession(cwd="/w", access=access))  # pyright: ignore[reportArgumentType]

    assert launch.argv == ("gemini", "--acp", "--approval-mode", option)
    assert launch.cwd == "/w"
    assert {each.value for each in GEMINI.capabilities(None).access} >= {access}


def test_a_process_is_for_one_session() -> None:
    with pytest.raises(Unsupported):
        _ACP.launch("gemini", None, None)  # pyright: ignore[reportArgumentType]


def test_what_is_played_names_itself_as_gemini_does() -> None:
    server = serve([])
    server.receive_line(b'{"jsonrpc":"2.0","id":1,"method":"initialize"}', 0.0)
    (line,) = server.lines_to_send(0.0)

    assert GEMINI.sniff([line]) == "gemini-acp"
