from __future__ import annotations

from dragoman.rehearsal.openai.items import call_item, item_of
from dragoman.rehearsal.script import Item, Pause, Run, Say, Search, Step, Think


def test_steps_become_output_items() -> None:
    def item(step: Step) -> object:
        return item_of(step, 1)

    assert item(Say("hi", "commentary")) == {
        "type": "message",
        "id": "msg_000001",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}],
        "phase": "commentary",
    }
    assert item(Think(("a", "b"), "raw")) == {
        "type": "reasoning",
        "id": "rs_000001",
        "summary": [{"type": "summary_text", "text": text} for text in "ab"],
        "content": [{"type": "reasoning_text", "text": "raw"}],
        "encrypted_content": "cmVoZWFyc2Fs",
    }
    assert item(Item({"type": "odd"})) == {"type": "odd"}
    assert item(Item({"type": "tool_use", "name": "Bash"})) is None, "a block of the other wire"
    assert item(Pause(1)) is None
    assert item(Run("ls")) is None


def test_a_search_is_for_words_a_page_or_words_in_a_page() -> None:
    def action(step: Search) -> object:
        item = item_of(step, 1)
        assert item is not None
        return item["action"]

    page = "https://example.com"
    assert action(Search("rain")) == {"type": "search", "query": "rain"}
    assert action(Search(url=page)) == {"type": "open_page", "url": page}
    assert action(Search(url=page, find="rain")) == {
        "type": "find_in_page",
        "url": page,
        "pattern": "rain",
    }


def test_a_call_carries_the_place_in_its_id() -> None:
    call = call_item({"type": "function_call", "name": "x"}, 2, 3, 255)

    assert call == {
        "type": "function_call",
        "name": "x",
        "id": "fc_0000ff",
        "call_id": "call_2_3_0000ff",
    }
