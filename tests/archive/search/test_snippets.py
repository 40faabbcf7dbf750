from __future__ import annotations

import json

import pytest

from dragoman.archive.search.snippets import snippet


def test_the_string_with_most_of_what_was_looked_for_is_shown() -> None:
    line = json.dumps({"a": "only apples here", "b": ["apples and pears", "nothing"]}).encode()

    assert snippet(line, ["apples", "pears"]).text == "apples and pears"


def test_long_texts_are_cut_around_the_match() -> None:
    line = json.dumps({"x": "before " * 100 + "THE needle" + " after" * 100}).encode()

    found = snippet(line, ["needle"])

    assert found.text.startswith("…before")
    assert found.text.endswith("…")
    [(begin, end)] = found.spans
    assert found.text[begin:end] == "needle"


def test_json_inside_json_is_looked_into() -> None:
    line = json.dumps({"arguments": json.dumps({"cmd": 'echo "hello there"'})}).encode()

    assert snippet(line, ["hello"]).text == 'echo "hello there"'


def test_a_phrase_is_found_across_signs_and_lines() -> None:
    line = json.dumps({"x": "src/app\n  main.py"}).encode()

    assert snippet(line, ["app/main.py"]).spans == ((4, 15),)


def test_what_is_no_json_is_shown_as_it_is() -> None:
    assert snippet(b"torn {line", ["line"]).text == "torn {line"


def test_without_needles_the_longest_text_is_shown() -> None:
    line = json.dumps({"secret": "Zm9v" * 500, "x": "some words of text"}).encode()

    assert snippet(line, ()).text == "some words of text"


ITEM = {
    "type": "parser",
    "cwd": "/work/parser",
    "item": {
        "id": "parser",
        "command": ["bash", "-lc", "pytest tests/parser"],
        "aggregated_output": "1 failed: parser",
        "encrypted_content": "parser parser",
    },
}


@pytest.mark.parametrize(
    ("kind", "text"), [("tool_call", "pytest tests/parser"), ("tool_result", "1 failed: parser")]
)
def test_the_words_are_those_of_the_message_that_was_found(kind: str, text: str) -> None:
    assert snippet(json.dumps(ITEM).encode(), ["parser"], kind).text == text


def test_what_is_only_in_a_field_about_the_message_is_shown_where_nothing_else_matches() -> None:
    line = json.dumps({"type": "message", "cwd": "/work/parser", "text": "all is well"}).encode()

    assert snippet(line, ["well"], "text").text == "all is well"
    assert snippet(line, ["parser"], "text").text == "all is well"
    assert snippet(json.dumps({"cwd": "/work/parser"}).encode(), ["parser"]).text == "/work/parser"
