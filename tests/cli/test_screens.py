"""What a person sees on a real terminal, of any width: above all, what they are asked to approve."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from dragoman.testing.plugin import StartRehearsal
from support.terminal.tmux import Terminal, needs_tmux, terminal

pytestmark = needs_tmux
DRAGOMAN = str(Path(sys.executable).with_name("dragoman"))
STAGE = [
    sys.executable,
    str(Path(__file__).parents[1] / "support" / "terminal" / "asking_stage.py"),
]
WIDTHS = (40, 60, 80, 100)
COMMAND = (
    "rm -rf build && find . -name '*.pyc' -newer setup.cfg -delete && echo 'all is clean 漢字'"
)
SCRIPT = f"""
- say: "I will clean up. ❤️ 👍🏽 👨‍👩‍👧‍👦 所有的测试现在都通过了"
- plan: [done: Look at all the files in this rather large repository, doing: Clean up, todo: Test]
- run: {{command: "{COMMAND}", escalate: "The build folder belongs to another user."}}
- say: All is clean.
"""
MENU = ("y yes", "n no", "c no, and stop", "denied in")
ASKED = {
    "command": (
        "rm -rf build && find . -name '*.pyc' -delete && echo 'clean",
        "now'",
        "shell: /tmp/evil/bash -lc",
        "directory: sub/folder",
        "commands that start with: rm -rf (stored in /home/u/.agent/rules/default.rules)",
        "The folder is owned by another user.",
        "p yes, from now on",
        *MENU,
    ),
    "long": (
        "cat <<FIRST",
        "rm -rf LAST",
        "more rows",
        "shell: /tmp/evil/bash -lc",
        "directory: sub/folder",
        "v show all",
        *MENU,
    ),
    "edit": ("± src/deep/folder/greet.py", "- return 1", "+ return 2 + 2", *MENU),
    "permissions": ("to install", '"network": {', '"/var/lib/something"', *MENU),
    "tool": ('to run tool "drop"?', '"table": "customers"', '"cascade": true', *MENU),
    "question": (
        "Which colour should the button have?",
        "1 Blue",
        "2 Red",
        "(Esc: no answer)",
        "denied in",
    ),
    "form": ("Please tell me who you are.", "the MCP server shop", "y fill in the form", "n no"),
    "url": (
        "Please sign in to the shop.",
        "https://shop.example.com/authorize?client=" + "abc" * 12 + "&state=END (not opened)",
        "y done, continue",
        "c no, and stop",
    ),
}


def squeezed(text: str) -> str:
    """Without the margins and the breaks that a width makes."""
    return re.sub(r"[\s│]", "", text)


def sees(screen: str, words: Sequence[str]) -> list[str]:
    """Which of these words are not on the screen."""
    seen = squeezed(screen)
    return [each for each in words if squeezed(each) not in seen]


def left(screen: str) -> int:
    found = re.search(r"denied in (\d+) s", screen)
    return int(found[1]) if found else 1000


def stays(windows: Sequence[Terminal], words: Sequence[str]) -> None:
    """It is there, and still there when it has been painted many times. All windows count down at the same time."""
    first = [left(window.wait_for("denied in")) for window in windows]
    for window, seconds in zip(windows, first, strict=True):
        screen = window.wait(lambda shown, until=seconds: left(shown) < until - 1, "the countdown")
        assert sees(screen, words) == [], screen


@pytest.mark.parametrize("kind", ASKED)
def test_every_kind_of_question_stays_on_the_screen_at_every_width(kind: str) -> None:
    with ExitStack() as windows:
        opened = [windows.enter_context(terminal([*STAGE, kind], width=each)) for each in WIDTHS]
        stays(opened, ASKED[kind])


@pytest.mark.parametrize(("width", "height"), [(40, 10), (20, 8), (100, 6)])
def test_a_small_screen_shows_the_command_and_the_keys(width: int, height: int) -> None:
    with terminal([*STAGE, "command"], width=width, height=height) as window:
        window.wait(lambda shown: not sees(shown, ["rm -rf build", "y a p n w c v"]), "the keys")


def test_all_of_a_long_question_can_be_seen() -> None:
    with terminal([*STAGE, "long"], width=60, height=20) as window:
        window.wait(lambda screen: left(screen) < 240, "the countdown")
        window.press("v")
        window.wait_for("rm -rf LAST", "v show all")
        window.wait(lambda _: "echo line 200\n" in window.screen(history=True), "line 200")
        assert sees(window.screen(), ASKED["long"]) == []


def test_the_question_stays_when_the_window_changes_its_size() -> None:
    with terminal([*STAGE, "command"], width=100, height=30) as window:
        window.wait_for("denied in")
        for width, height in ((40, 24), (60, 18), (120, 24)):
            window.resize(width, height)
            window.wait(lambda shown: not sees(shown, ASKED["command"]), "the question")
        stays([window], ASKED["command"])
        assert window.screen().count("Run this command?") == 1


def answer(window: Terminal, key: str, *words: str) -> None:
    """Press a key until it has an effect: one that comes too early answers nothing."""
    for _ in range(60):
        window.press(key)
        try:
            window.wait(lambda shown: all(each in shown for each in words), str(words), seconds=1)
        except AssertionError:
            continue
        return
    raise AssertionError(window.screen())


def test_a_form_is_filled_in_field_by_field_and_checked() -> None:
    with terminal([*STAGE, "form"], width=60, height=30) as window:
        window.wait_for("y fill in the form")
        answer(window, "y", "1 of 5: Full name (name)", "As in your passport.")
        window.type("A\n")
        window.wait_for("! name must have at least 2 characters")
        window.type("Ada\n")
        window.wait_for("2 of 5: age", "a whole number, required")
        window.type("young\n")
        window.wait_for("! age must be a whole number")
        window.type("36\n")
        window.wait_for("3 of 5: colour", "1 red", "2 green", "Enter accepts")
        window.type("1\n")
        window.wait_for("4 of 5: news", "yes or no, required")
        window.type("no\n")
        window.wait_for("5 of 5: mail", "Enter skips it")
        window.type("\n")
        window.wait_for(
            "The following will be sent:", "name: Ada", "age: 36", "colour: red", "news: no"
        )
        window.press("y")
        screen = window.wait_for("exit code 0")
    assert sees(screen, ['"content":{"name":"Ada","age":36,"colour":"red","news":false}']) == []


def test_a_question_that_is_not_answered_can_stop_the_turn() -> None:
    with terminal([*STAGE, "question"], width=60) as window:
        window.wait_for("(Esc: no answer)")
        answer(window, "Escape", "c no answer, and stop")
        window.press("c")
        assert '"word":"cancel"' in squeezed(window.wait_for("exit code 0"))


# The commands themselves, with the real agent.


def ready(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("command", ["run", "chat"])
def test_the_command_stays_in_sight(
    command: str, rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    folder = ready(tmp_path / "work")
    words = [DRAGOMAN, command, "clean up", "--command", codex_program]
    with ExitStack() as windows:
        opened = [
            windows.enter_context(
                terminal(words, width=each, env=rehearsal(SCRIPT).env, cwd=folder)
            )
            for each in WIDTHS
        ]
        stays(opened, (COMMAND, "directory: . (the session's directory)", *MENU))
        answer(opened[0], "n", "denied")


def test_the_demo_asks_in_sight(codex_program: str) -> None:
    with ExitStack() as windows:
        words = [DRAGOMAN, "demo", "--quick", "--command", codex_program]
        opened = [windows.enter_context(terminal(words, width=each)) for each in (40, 80)]
        stays(opened, ("greet.py", 'return f"Hello, {name}!"', *MENU))
        for window in opened:
            answer(window, "y", "exit code 0")
            assert sees(window.screen(), ["session file", "demo --page", "doctor"]) == []


def test_a_replay_shows_what_was_asked(data: Path, tmp_path: Path) -> None:
    """The recording ends with the question: it stays open to the end."""
    recording = data / "codex" / "codex-app-server" / "approval-0.160" / "wire.jsonl"
    lines = recording.read_bytes().splitlines(keepends=True)
    last = next(at for at, line in enumerate(lines) if b"requestApproval" in line)
    cut = tmp_path / "asks.jsonl"
    cut.write_bytes(b"".join(lines[: last + 1]))
    with ExitStack() as windows:
        words = [DRAGOMAN, "replay", str(cut), "--speed", "50"]
        opened = [windows.enter_context(terminal(words, width=each)) for each in WIDTHS]
        for window in opened:
            screen = window.wait_for("exit code 0")
            assert sees(screen, ["Make these changes?", "1 + hello", "directory:"]) == [], screen


WORKS = """
- say: I begin.
- run: {command: "sleep 300", wait: 250}
"""


def test_what_the_agent_never_read_goes_back_to_the_input_line(
    rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    env = rehearsal(WORKS).env
    words = [DRAGOMAN, "chat", "begin", "--command", codex_program]
    with terminal(words, width=60, env=env, cwd=ready(tmp_path / "work")) as window:
        window.wait_for("Running sleep 300")
        window.type("use the other file\n")
        window.wait_for("⧗ waiting for the agent to read this: use the other file")
        window.press("C-c")
        screen = window.wait_for("interrupted", "it is back in the input", gone=["⧗"])
        assert re.search(
            "^\u203a use the other file", screen.split("it is back in the input")[1], re.MULTILINE
        )
        window.type(" now")
        window.wait_for("\u203a use the other file now")


SLOW = """
- say: I begin.
- run: {command: "until [ -e go ]; do sleep 0.1; done", wait: 60}
- say: The end.
"""


def test_what_is_said_to_a_turn_is_pending_until_the_agent_reads_it(
    rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    env = rehearsal(SLOW).env
    words = [DRAGOMAN, "chat", "begin", "--command", codex_program]
    with terminal(words, width=60, env=env, cwd=ready(tmp_path / "work")) as window:
        window.wait_for("Running until")
        window.type("use the other file\n")
        window.wait_for("⧗ waiting for the agent to read this: use the other file")
        (tmp_path / "work" / "go").touch()
        screen = window.wait_for("completed", gone=["⧗"])
        assert "\n\u203a use the other file\n" in screen
        assert "it is back in the input" not in screen


_SHOP = """
import json, sys

def send(**said):
    print(json.dumps({"jsonrpc": "2.0", **said}), flush=True)

for line in sys.stdin:
    asked = json.loads(line)
    method, given = asked.get("method"), asked.get("params") or {}
    if method == "initialize":
        info = {"name": "shop", "version": "1"}
        version = given["protocolVersion"]
        send(id=asked["id"], result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        tool = {"name": "buy", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        send(id=asked["id"], result={"tools": [tool]})
    elif method == "tools/call":
        call = asked["id"]
        fields = {"count": {"type": "integer", "minimum": 1}, "where": {"type": "string"}}
        form = {"type": "object", "properties": fields, "required": ["count", "where"]}
        send(id="e1", method="elicitation/create", params={"mode": "form", "message": "How many?", "requestedSchema": form})
    elif asked.get("id") == "e1":
        send(id=call, result={"content": [{"type": "text", "text": json.dumps(asked["result"]["content"])}]})
    elif "id" in asked and method:
        send(id=asked["id"], result={})
"""


def test_a_form_of_a_real_server_reaches_it_filled_in(
    rehearsal: StartRehearsal, codex_program: str, tmp_path: Path
) -> None:
    shop = tmp_path / "shop.py"
    shop.write_text(_SHOP, encoding="utf-8")
    script = f"""
    config: {{mcp_servers: {{shop: {{command: {sys.executable}, args: [{shop}]}}}}}}
    turns:
    - - mcp: {{server: shop, tool: buy, arguments: {{a: 1}}}}
      - say: Bought.
    """
    stage = rehearsal(script)
    words = [DRAGOMAN, "run", "buy", "--command", codex_program]
    with terminal(words, width=60, height=30, env=stage.env, cwd=ready(tmp_path / "w")) as window:
        window.wait_for("How many?", "from: the MCP server shop", "y fill in the form")
        answer(window, "y", "1 of 2: count")
        window.type("0\n")
        window.wait_for("! count must be at least 1")
        window.type("3\n")
        window.wait_for("2 of 2: where")
        window.type("Oslo\n")
        window.wait_for("The following will be sent:", "count: 3", "where: Oslo")
        window.press("y")
        window.wait_for("Bought.", "exit code 0")
    assert '{"count": 3, "where": "Oslo"}' in stage.requests[-1].outputs[-1]
