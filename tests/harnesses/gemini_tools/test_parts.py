from __future__ import annotations

from dragoman.harnesses.gemini_tools.parts import parts_of


def test_a_message_is_taken_apart() -> None:
    said = parts_of(
        [
            {"text": "a thought", "thought": True},
            {"text": "one "},
            "two",
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"fileData": {"fileUri": "gs://x"}},
            {"functionCall": {"id": "c", "name": "glob"}},
            {"functionResponse": {"id": "c"}},
            {"executableCode": {"code": "1"}},
            {},
            7,
        ]
    )

    assert said.text == "one two"
    assert said.thoughts == ["a thought"]
    assert said.images == ["data:image/png;base64,AAAA", "gs://x"]
    assert said.calls == [{"id": "c", "name": "glob"}]
    assert said.results == [{"id": "c"}]
    assert said.others == ["executableCode"]


def test_a_text_is_a_message_too() -> None:
    assert parts_of("hello").text == parts_of({"text": "hello"}).text == "hello"
    assert parts_of(None).text == parts_of(3).text == ""
