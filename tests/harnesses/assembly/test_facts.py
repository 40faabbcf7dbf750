from __future__ import annotations

import msgspec

from dragoman.harnesses.assembly.facts import KnownFacts


def test_new_facts_replace_old_ones_and_unknown_ones_do_not() -> None:
    before = KnownFacts(version="1", model="m", cwd="/w")

    assert before.updated(KnownFacts(model="n")) == KnownFacts(version="1", model="n", cwd="/w")


def test_a_release_alone_is_no_news() -> None:
    before = KnownFacts(version="1", model="m")

    assert not before.updated(KnownFacts(version="2")).is_news(before)
    assert before.updated(KnownFacts(cwd="/w")).is_news(before)
    assert before.updated(KnownFacts(parent_session_id="p")).is_news(before)
    assert before.updated(KnownFacts(transport="exec")).is_news(before)
    assert before.updated(KnownFacts(parent_call_id="c")).is_news(before)


def test_facts_stored_before_a_field_was_added_are_still_read() -> None:
    stored = msgspec.msgpack.encode(["1", "m", "/w", None])

    assert msgspec.msgpack.decode(stored, type=KnownFacts) == KnownFacts("1", "m", "/w")
