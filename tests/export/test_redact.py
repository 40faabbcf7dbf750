from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dragoman.export import find
from dragoman.export.base import Options
from dragoman.export.redact import Redactor, redacting, summary
from dragoman.model.messages import Delta, Message, Prompt, Text, ToolCall, ToolResult, encode
from dragoman.reading.mapper import Mapper
from dragoman.reading.read import read

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0"


def test_equal_values_get_equal_placeholders() -> None:
    redactor = Redactor()

    first = redactor.text(f"use {KEY} or sk-ant-Zz9Yy8Xx7Ww6Vv5Uu4")
    second = redactor.text(f"again {KEY}; mail ada@lovelace.org and Ada@Lovelace.org")

    assert first == "use [secret-1] or [secret-2]"
    assert second == "again [secret-1]; mail [email-1] and [email-1]"


def test_homes_are_tildes_and_two_of_them_stay_two() -> None:
    redactor = Redactor()

    shown = redactor.text("/home/ada/x /home/bob/y /Users/ada/z C:\\Users\\ada\\w file:///home/ada")

    assert shown == "~/x ~2/y ~/z ~\\w file://~"
    assert redactor.text("src/home/page.ts /homepage") == "src/home/page.ts /homepage"


def test_every_text_of_a_message_is_masked_however_deep() -> None:
    call = ToolCall(
        call_id="c",
        tool="Edit",
        native_tool="x",
        input={
            "changes": [{"path": "/home/ada/a.py", "diff": f"+KEY = '{KEY}'"}],
            "env": {"DB_PASSWORD": "hunter22", "DEBUG": "true"},
            "/home/ada/b": [1, None, {"deep": ["ada@lovelace.org"]}],
        },
        line=7,
    )

    shown = Redactor().message(call)

    assert isinstance(shown, ToolCall)
    assert shown.input == {
        "changes": [{"path": "~/a.py", "diff": "+KEY = '[secret-1]'"}],
        "env": {"DB_PASSWORD": "[secret-2]", "DEBUG": "true"},
        "~/b": [1, None, {"deep": ["[email-1]"]}],
    }


def test_a_message_without_secrets_is_the_same_message() -> None:
    message = Text(text="nothing to see", line=3)

    assert Redactor().message(message) is message


def test_a_value_seen_once_is_masked_wherever_it_turns_up_later() -> None:
    redactor = Redactor()

    assert redactor.text("export DB_PASSWORD='corr3ct-horse'") == "export DB_PASSWORD='[secret-1]'"
    assert redactor.text("psql says corr3ct-horse") == "psql says [secret-1]"


def test_values_that_are_given_are_masked_whatever_they_look_like() -> None:
    assert Redactor(["plainword"]).text("a plainword b") == "a [secret-1] b"


def test_the_list_tells_kind_count_and_place_but_no_value() -> None:
    redactor = Redactor()
    for line in (3, 9):
        redactor.message(Prompt(text=f"{KEY} ada@lovelace.org {KEY}", line=line))

    key, mail = redactor.masked

    assert (key.placeholder, key.kind, key.count, key.lines) == ("[secret-1]", "API key", 4, (3, 9))
    assert mail.where == "lines 3, 9"
    assert summary(redactor.masked) == "API key: 4, e-mail address: 2"
    assert KEY not in repr(redactor.masked)


def test_pieces_on_their_way_are_left_out_for_a_secret_may_be_cut_in_two() -> None:
    said: list[Message] = [Delta(of="text", text=KEY[:6]), Text(text=KEY)]

    assert [*Redactor().redact(said)] == [Text(text="[secret-1]")]


def test_an_image_is_not_searched_but_counted() -> None:
    redactor = Redactor()
    image = "data:image/png;base64,AKIAABCDEFGHIJKLMNOP"

    assert redactor.message(Prompt(text="x", images=[image])) == Prompt(text="x", images=[image])
    assert redactor.images == 1


def test_the_page_lists_what_was_masked() -> None:
    html = find("html")
    assert html is not None
    exporter = redacting(html, Options())

    page = exporter.export([Prompt(text=f"use {KEY}", line=5)]) + exporter.finish()

    assert KEY.encode() not in page
    assert b"<code>[secret-1]</code> API key: 1 in line 5" in page


def test_source_lines_are_masked_too() -> None:
    mapper = Mapper("unified", dialect="codex-exec")
    assert "ada@" in "".join(mapper.push(_exec("ada@lovelace.org")))
    unified = find("unified")
    assert unified is not None
    line = _exec("ada@lovelace.org").encode()
    exporter = redacting(unified, Options(source_line=lambda _: line))

    made = exporter.export([Text(text="ada@lovelace.org", line=1)])

    assert b"ada@" not in made
    assert json.loads(made)["_original"]["item"]["text"] == "[email-1]"


def _exec(text: str) -> str:
    item = {"id": "i", "type": "agent_message", "text": text}
    return json.dumps({"type": "item.completed", "item": item}) + "\n"


def test_recordings_of_real_sessions_lose_nothing_but_home_directories(data: Path) -> None:
    kinds: set[str] = set()
    for path in sorted(data.glob("codex/*/*/wire.jsonl")):
        redactor = Redactor()
        for message in read(path):
            before, after = encode(message), encode(redactor.message(message))
            assert before.replace(b"/home/dev", b"~") == after
        kinds |= {each.kind for each in redactor.masked}

    assert kinds <= {"home directory"}


def test_the_projects_own_code_stays_as_it_is(data: Path) -> None:
    root = data.parents[1] / "src"
    for path in sorted(root.rglob("*.py")):
        redactor = Redactor()
        redactor.message(ToolResult(call_id="c", output=path.read_text(encoding="utf-8")))
        assert redactor.masked == [], path


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "sk-",
        "a",
        "a.",
        "://",
        "-----BEGIN PRIVATE KEY-----",
        "token ",
        "x@y.",
        "/home/",
        "A1",
    ],
)
def test_a_long_line_of_anything_is_masked_in_linear_time(piece: str) -> None:
    began = time.process_time()

    Redactor().text(piece * (1_000_000 // len(piece)))

    assert time.process_time() - began < 10


def test_a_word_of_a_command_is_masked_by_the_words_before_it() -> None:
    call = ToolCall(
        call_id="c",
        tool="Bash",
        native_tool="x",
        input={"argv": ["sshpass", "-p", "coppertulip", "ssh", "host"]},
    )

    shown = Redactor().message(call)

    assert isinstance(shown, ToolCall)
    assert shown.input == {"argv": ["sshpass", "-p", "[secret-1]", "ssh", "host"]}


def test_a_field_is_masked_by_the_name_in_the_field_beside_it() -> None:
    call = ToolCall(
        call_id="c",
        tool="x",
        native_tool="x",
        input={"env": [{"name": "DB_PASSWORD", "value": "coppertulip"}]},
    )

    shown = Redactor().message(call)

    assert isinstance(shown, ToolCall)
    assert shown.input == {"env": [{"name": "DB_PASSWORD", "value": "[secret-1]"}]}


def test_what_is_nested_deeper_than_python_can_call_is_masked_too() -> None:
    deep: object = {"password": "coppertulip"}
    for _ in range(5000):
        deep = {"a": [deep]}

    shown = Redactor().message(ToolCall(call_id="c", tool="x", native_tool="x", input={"d": deep}))

    assert isinstance(shown, ToolCall)
    inner = shown.input["d"]
    while "a" in inner:
        inner = inner["a"][0]
    assert inner == {"password": "[secret-1]"}
