from __future__ import annotations

from dragoman.rehearsal.anthropic.blocks import block_of, call_block
from dragoman.rehearsal.places import ScriptPlace
from dragoman.rehearsal.script import Item, Pause, Say, Think


def test_steps_become_content_blocks() -> None:
    assert block_of(Say("hi"), 1) == {"type": "text", "text": "hi"}
    thought = {"type": "thinking", "thinking": "a\n\nb", "signature": "cmVoZWFyc2Fs"}
    assert block_of(Think(("a", "b")), 1) == thought
    assert block_of(Think("a", "raw"), 1) == {**thought, "thinking": "raw"}
    assert block_of(Pause(1), 1) is None


def test_an_item_is_kept_as_it_is_unless_it_belongs_to_the_other_wire() -> None:
    assert block_of(Item({"type": "redacted_thinking", "data": "x"}), 1) == {
        "type": "redacted_thinking",
        "data": "x",
    }
    assert block_of(Item({"type": "tool_use", "name": "Bash"}), 1) == {
        "type": "tool_use",
        "name": "Bash",
        "id": "toolu_000001",
        "input": {},
    }
    assert block_of(Item({"type": "web_search_call"}), 1) is None
    assert block_of(Item({"type": "message"}), 1) is None


def test_a_call_carries_the_place_in_its_id() -> None:
    place = ScriptPlace(2, 3, "hi", 1, "prompt", False)

    assert call_block({"name": "Bash", "input": {}}, place, 4, 255) == {
        "type": "tool_use",
        "id": "toolu_2_4_0000ff",
        "name": "Bash",
        "input": {},
    }
    assert call_block({"name": "Read", "input": {}}, place, 3, 1)["id"] == "toolu_b2_3_000001"
