from __future__ import annotations

import json

from dragoman.harnesses.gemini.audit.values import values


def test_a_message_that_is_set_again_has_to_be_in_a_message() -> None:
    row = {"id": "u", "type": "user", "content": [{"text": "go"}]}
    line = json.dumps({"$set": {"messages": [row], "lastUpdated": "t"}}).encode()

    assert [(each.place, each.value) for each in values(line)] == [
        ("$set.messages[].content[].text", "go")
    ]


def test_bookkeeping_says_nothing() -> None:
    assert list(values(b'{"$set":{"lastUpdated":"t","novel":1}}', "bookkeeping")) == []
    assert [each.value for each in values(b'{"$set":{"novel":1}}')] == [1]
    assert list(values(b"odd")) == []
