from __future__ import annotations

from dragoman.harnesses.assembly.output import Output
from dragoman.harnesses.codex.threads import Threads
from dragoman.model.messages import SessionStarted


def test_a_line_without_a_name_belongs_to_the_thread_named_last() -> None:
    threads = Threads(Output(audit=False))
    first, second = threads.get("a"), threads.get("b")
    assert threads.get(None) is second
    assert threads.get("a") is first
    assert threads.get(None) is first


def test_a_thread_that_spoke_before_it_was_named_gets_its_name() -> None:
    threads = Threads(Output(audit=False))
    nameless = threads.get(None)
    assert threads.get("a") is nameless
    assert nameless.session.session_id == "a"
    assert threads.all() == [nameless]


def test_a_child_that_was_heard_of_before_its_parent_is_known_is_told_again() -> None:
    out = Output(audit=False)
    threads = Threads(out)
    child = threads.get("child")
    child.session.begin_session(version="1")
    threads.link("child", "parent")
    threads.link("child", "child")
    told = [each for each in out.messages if isinstance(each, SessionStarted)]
    assert [each.parent_session_id for each in told] == [None, "parent"]
    assert threads.parent_of("child") == "parent"


def test_a_thread_that_was_left_is_forgotten_until_it_is_joined_again() -> None:
    threads = Threads(Output(audit=False))
    thread = threads.get("a")
    threads.leave("a")
    threads.leave("never heard of")
    assert threads.all() == []
    late = threads.get("a")
    assert late is not thread
    assert late.session.session_id == "a"
    assert threads.all() == []
    threads.join("a")
    assert threads.get("a") is threads.get("a")
    assert len(threads.all()) == 1


def test_a_thread_whose_turn_goes_on_is_not_forgotten() -> None:
    threads = Threads(Output(audit=False))
    thread = threads.get("a")
    thread.session.begin_turn("t1")
    threads.leave("a")
    assert threads.get("a") is thread
