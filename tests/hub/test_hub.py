"""The hub on a server that lives in memory."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from dragoman.errors import (
    AuthorityMismatch,
    InvalidWorkspace,
    ProtocolError,
    TurnFailed,
    UsageError,
)
from dragoman.hub.hub import (
    Entry,
    Forbidden,
    Hub,
    KeyUsedDifferently,
    SessionChanged,
    Transient,
    UnknownSession,
)
from dragoman.model.messages import ApprovalSettled, Delta, Notice, TurnEnded
from dragoman.store.live.reading import LiveStoreUnusable
from dragoman.web.settings import Settings
from dragoman.web.streams.broadcasting import Broadcasts
from dragoman.web.streams.channels import Cursor
from support.agents.hubs import (
    SECONDS,
    FakeLink,
    Pretence,
    asks,
    eventually,
    is_end,
    kinds,
    read_until,
    say_delta,
    seqs,
    texts,
)


@pytest.fixture
def pretence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretence:
    return Pretence(tmp_path, monkeypatch)


def test_a_session_from_its_prompt_to_its_end(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one", "two")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            told = await read_until(hub.subscribe(session.id), is_end)
            assert seqs(told) == [1, 2, 3, 4, 5, 6]
            assert kinds(told) == [
                "session_started", "turn_started", "prompt", "text", "text", "turn_ended",
            ]  # fmt: skip
            stored = hub.entries(session.id)
            assert [each.json for each in stored] == [
                each.json for each in told if isinstance(each, Entry)
            ]
            now = hub.get(session.id)
            assert (now.state, now.last_seq, now.cwd) == ("done", 6, str(pretence.repo))
            assert [one.id for one in hub.sessions()] == [session.id]
            assert hub.verify() == []
            harness = hub.harnesses()[0]
            assert (harness.version, harness.state) == ("0.166.0", "running")

    asyncio.run(story())


def test_a_reader_comes_back_with_its_cursor(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with(*(f"t{n}" for n in range(400)))
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            first = hub.subscribe(session.id)
            told = [await anext(first) for _ in range(17)]
            first.close()
            again = await read_until(hub.subscribe(session.id, after=seqs(told)[-1]), is_end)
            assert seqs(told + again) == list(range(1, 405))
            assert len(hub.entries(session.id, after=100, limit=50)) == 50
            assert [one.seq for one in hub.before(session.id, seq=50, limit=3)] == [47, 48, 49]

    asyncio.run(story())


def test_deltas_pass_in_their_place_and_are_not_stored(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            reader = hub.subscribe(session.id)
            told = [await anext(reader)]  # now it is not behind any more
            await hub.run(session.id, "go")
            say_delta(server, server.link, "He", "msg-Hello")
            say_delta(server, server.link, "llo", "msg-Hello")
            server.say_text(server.link, "Hello")
            server.end_turn(server.link)
            told += await read_until(reader, is_end)
            pieces = [one.message for one in told if isinstance(one, Transient)]
            assert [one.text for one in pieces if isinstance(one, Delta)] == ["He", "llo"]
            assert [type(one).__name__ for one in told] == [
                "Entry", "Entry", "Entry", "Transient", "Transient", "Entry", "Entry",
            ]  # fmt: skip
            assert kinds(told) == [
                "session_started",
                "turn_started",
                "prompt",
                "text",
                "turn_ended",
            ]
            assert "delta" not in kinds(hub.entries(session.id))

    asyncio.run(story())


def test_a_slow_reader_gets_a_gap_and_loses_no_entry(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            quick, slow = hub.subscribe(session.id), hub.subscribe(session.id)
            first = [await anext(slow), await anext(slow)]

            async def quickly() -> list[Any]:
                return await read_until(quick, is_end)

            async with asyncio.TaskGroup() as tasks:
                reading = tasks.create_task(quickly())
                for number in range(600):
                    say_delta(server, server.link, "x", f"msg-{number}")
                    server.say_text(server.link, str(number))
                    await asyncio.sleep(0)
                server.end_turn(server.link)
            rest = await read_until(slow, is_end)
            assert seqs(reading.result()) == list(range(1, 605))
            assert seqs(first + rest) == list(range(1, 605))
            assert kinds(rest)[0] == "gap"
            assert slow.gaps

    asyncio.run(story())


def _is_done(hub: Hub, session_id: str, after: int) -> bool:
    now = hub.get(session_id)
    return now.state == "done" and now.last_seq > after


def test_the_stream_of_a_session_goes_by_its_own_numbers(pretence: Pretence) -> None:
    """Not by those of a session that was begun later, and lies behind it in the store."""

    async def story() -> None:
        pretence.server.answers_with("one", "two")
        async with (
            asyncio.timeout(SECONDS),
            pretence.hub() as hub,
            Broadcasts(hub, Settings()).open() as broadcasts,
        ):
            first = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(first.id).state == "done")
            second = await hub.start(cwd=pretence.repo)
            for session_id in (first.id, second.id):
                last = hub.get(session_id).last_seq
                async with broadcasts.reading(session_id) as channel:
                    assert channel.last_seq == last
                    cursor, seqs_told = Cursor(channel, 0), list[int]()
                    pretence.server.link.thread = session_id
                    await hub.run(session_id, "on")
                    await eventually(lambda of=session_id, was=last: _is_done(hub, of, was))
                    while len(seqs_told) < hub.get(session_id).last_seq:
                        data = await cursor.next()
                        assert data is not None
                        seqs_told += [int(each) for each in re.findall(rb"^id: (\d+)$", data, re.M)]
                    assert seqs_told == list(range(1, len(seqs_told) + 1))
                    assert len(seqs_told) > last

    asyncio.run(story())


def test_two_readers_share_what_is_encoded(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).last_seq == 2)
            one, two = hub.subscribe(session.id, after=2), hub.subscribe(session.id, after=2)
            async with asyncio.TaskGroup() as tasks:
                tasks_of = [tasks.create_task(read_until(each, is_end)) for each in (one, two)]
                await asyncio.sleep(0.01)
                server.say_text(server.link, "same")
                server.end_turn(server.link)
            left, right = (task.result() for task in tasks_of)
            assert [id(each) for each in left] == [id(each) for each in right]

    asyncio.run(story())


def test_an_approval_waits_until_somebody_decides(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        asks(server, 7, "make")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(hub.approvals)
            [waiting] = hub.approvals(session.id)
            assert waiting.request.summary == "make"
            assert waiting.deadline_at is not None
            assert hub.get(session.id).state == "waiting"
            assert hub.approvals("another") == []
            with pytest.raises(UsageError, match="unknown decision"):
                hub.decide(waiting.id, "perhaps", session_id=session.id)
            assert not hub.decide(waiting.id, "allow", session_id="another")
            assert hub.decide(waiting.id, "allow", session_id=session.id)
            assert not hub.decide(waiting.id, "deny", session_id=session.id)
            await eventually(lambda: any(line.get("id") == 7 for line in server.asked[-1:]))
            assert server.asked[-1]["result"] == {"decision": "accept"}
            await eventually(lambda: hub.get(session.id).state == "working")
            assert hub.approvals() == []
            [asked] = hub.past_requests()
            assert (asked.session_id, asked.message) == (
                session.id,
                hub.entries(session.id)[2].message,
            )

    asyncio.run(story())


def test_a_policy_is_tried_on_what_was_asked_and_then_holds(
    pretence: Pretence, tmp_path: Path
) -> None:
    async def story() -> None:
        server = pretence.server
        asks(server, None, "make")
        path = tmp_path / "policy.toml"
        here = '[[rule]]\nname = "build"\ncommand = ["make"]\ndecision = "allow"\n'
        rules = f'{here}cwd = ["/"]\n'  # where the request is to run
        async with asyncio.timeout(SECONDS), pretence.hub(policy_path=path) as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(hub.approvals)
            assert hub.policy_text() == ""
            with pytest.raises(UsageError):
                hub.check_policy("nonsense = 1")
            assert [each.decision for each in hub.check_policy(here)] == ["ask"]
            [judged] = hub.check_policy(rules)
            assert (judged.decision, judged.by) == ("allow", "rule 'build'")
            assert [each.decision for each in hub.check_policy("")] == ["ask"]
            hub.save_policy(rules)
            assert path.read_text(encoding="utf-8") == rules == hub.policy_text()
            hub.decide("call-1", "deny", session_id=session.id)
            server.end_turn(server.link)
            await eventually(lambda: hub.get(session.id).state == "done")
            await hub.run(session.id, "again")
            await eventually(lambda: server.asked[-1].get("result") == {"decision": "accept"})

    asyncio.run(story())


def test_nobody_decides_and_the_deadline_does(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        asks(server, 7)
        async with asyncio.timeout(SECONDS), pretence.hub(ask_seconds=0.05) as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: server.asked[-1].get("result") == {"decision": "decline"})
            await eventually(lambda: hub.get(session.id).state == "working")
            said = [each.message for each in hub.entries(session.id)]
            assert any(isinstance(one, Notice) and "in time" in one.text for one in said)
            assert any(isinstance(one, ApprovalSettled) for one in said)

    asyncio.run(story())


def test_only_the_roots_can_be_worked_in(pretence: Pretence, tmp_path: Path) -> None:
    async def story() -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (pretence.repo / "way_out").symlink_to(outside)
        (tmp_path / "repo2").mkdir()
        sub = (pretence.repo / "sub").resolve()
        sub.mkdir()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            for path in (
                outside,
                pretence.repo / "way_out",
                pretence.repo / ".." / "outside",
                tmp_path / "repo2",
                "/",
                "a\0b",
            ):
                with pytest.raises(Forbidden):
                    await hub.start(cwd=path)
            assert hub.sessions() == []
            with pytest.raises(InvalidWorkspace):
                await hub.start(cwd=pretence.repo / "missing")
            session = await hub.start(cwd=pretence.repo / "sub")
            assert session.cwd == str(sub)

    asyncio.run(story())


def test_the_same_key_begins_one_session(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        wish: dict[str, Any] = {"cwd": pretence.repo, "prompt": "go", "idempotency_key": "k"}
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            same = await asyncio.gather(*(hub.start(**wish) for _ in range(5)))
            assert len({each.id for each in same}) == 1
            await eventually(lambda: hub.get(same[0].id).state == "done")
            other: dict[str, Any] = {**wish, "prompt": "something else"}
            with pytest.raises(KeyUsedDifferently):
                await hub.start(**other)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert (await hub.start(**wish)).id == same[0].id
            assert len(hub.sessions()) == 1
        assert pretence.server.methods().count("thread/start") == 1
        assert pretence.server.methods().count("turn/start") == 1

    asyncio.run(story())


def test_the_same_key_begins_one_turn_even_after_a_restart(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, idempotency_key="k")
            same = await asyncio.gather(
                *(hub.run(session.id, "go", idempotency_key="k") for _ in range(5))
            )
            assert same == ["turn-1"] * 5
            with pytest.raises(KeyUsedDifferently, match="'k'"):
                await hub.run(session.id, "something else", idempotency_key="k")
            for key in (None, ""):
                await hub.run(session.id, "go", idempotency_key=key)
                await eventually(lambda: hub.get(session.id).state == "done")
            assert server.methods().count("turn/start") == 3

            def refuse(link: FakeLink, line: dict[str, Any]) -> None:
                link.say({"id": line["id"], "error": {"code": -32600, "message": "not now"}})

            server.on["turn/start"] = refuse
            with pytest.raises(TurnFailed):
                await hub.run(session.id, "later", idempotency_key="l")
            server.answers_with("one")
            assert await hub.run(session.id, "later", idempotency_key="l") == "turn-4"
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert await hub.run(session.id, "go", idempotency_key="k") == "turn-1"
        assert server.methods().count("turn/start") == 5

    asyncio.run(story())


def test_the_same_key_asks_a_session_that_is_gone_on_with_once(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
            wish: dict[str, Any] = {"cwd": pretence.repo, "prompt": "on", "resume": session.id}
            for _ in range(2):
                same = await hub.start(**wish, idempotency_key="k")
                assert same.id == session.id
                await eventually(lambda: hub.get(session.id).state == "done")
            assert pretence.server.methods().count("turn/start") == 2

    asyncio.run(story())


def test_a_second_prompt_steers_and_steering_nothing_is_an_error(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            with pytest.raises(ProtocolError):
                await hub.steer(session.id, "anybody?")
            turn_id = await hub.run(session.id, "go")
            assert await hub.run(session.id, "and this") == turn_id
            await hub.steer(session.id, "and that")
            assert server.methods().count("turn/start") == 1
            assert server.methods().count("turn/steer") == 2
            await hub.interrupt(session.id)
            await eventually(lambda: hub.get(session.id).state == "idle")

    asyncio.run(story())


def test_steered_words_are_kept_until_the_agent_takes_them_up_or_the_turn_ends(
    pretence: Pretence,
) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            turn_id = await hub.run(session.id, "go")
            await hub.steer(session.id, "and this")
            await hub.steer(session.id, "and that")
            waiting = hub.get(session.id).steered
            assert [(each.text, each.state) for each in waiting] == [
                ("and this", "pending"),
                ("and that", "pending"),
            ]
            with pytest.raises(ProtocolError):
                await hub.take_back(session.id, waiting[0].id)
            item = {
                "type": "userMessage",
                "id": "u2",
                "content": [{"type": "text", "text": "and this"}],
            }
            where = {"threadId": session.native_id, "turnId": turn_id}
            server.link.note("item/completed", item=item, **where)
            await eventually(lambda: len(hub.get(session.id).steered) == 1)
            await hub.interrupt(session.id)
            await eventually(lambda: hub.get(session.id).state == "idle")
            [left] = hub.get(session.id).steered
            assert (left.text, left.state) == ("and that", "returned")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:  # it was written down
            assert hub.get(session.id).steered == [left]
            assert await hub.take_back(session.id, left.id)
            assert not await hub.take_back(session.id, left.id)
            assert hub.get(session.id).steered == []

    asyncio.run(story())


def test_a_turn_with_another_authority_is_confirmed_first_and_not_during_a_turn(
    pretence: Pretence,
) -> None:
    async def story() -> None:
        server = pretence.server
        server.answers_with("fine")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
            await hub.run(session.id, "on", sandbox="read-only", approvals="never")
            await eventually(lambda: hub.get(session.id).state == "done")
            now = hub.get(session.id)
            assert (now.sandbox, now.approvals) == ("read-only", "never")
            resumed = next(each for each in server.asked if each.get("method") == "thread/resume")
            assert resumed["params"]["sandbox"] == "read-only"
            assert resumed["params"]["approvalPolicy"] == "never"

            asked = len(server.asked)
            await hub.run(session.id, "on", sandbox="read-only")
            assert "thread/resume" not in [each.get("method") for each in server.asked[asked:]]
            await eventually(lambda: hub.get(session.id).state == "done")

            def refuse(link: FakeLink, line: dict[str, Any]) -> None:
                result = server.result(link, "thread/resume", line["params"])
                link.say({"id": line["id"], "result": {**result, "sandbox": {"type": "readOnly"}}})

            server.on["thread/resume"] = refuse
            with pytest.raises(AuthorityMismatch, match="danger-full-access"):
                await hub.run(session.id, "on", sandbox="danger-full-access")
            assert hub.get(session.id).sandbox == "read-only"
            server.starts_turns()
            await hub.run(session.id, "on")
            with pytest.raises(ProtocolError, match="while a turn is under way"):
                await hub.run(session.id, "on", approvals="on-request")
            await hub.interrupt(session.id)

    asyncio.run(story())


def test_what_was_being_said_when_a_turn_was_cut_off_is_kept(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
            say_delta(server, server.link, "Half a ")
            say_delta(server, server.link, "sentence")
            await hub.interrupt(session.id)
            told = await read_until(hub.subscribe(session.id), is_end)
            assert texts(told) == ["Half a sentence"]
            assert hub.verify() == []

    asyncio.run(story())


def test_a_turn_that_was_given_up_before_it_began_leaves_a_sound_store(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        pretence.interrupt_seconds = 0.05
        has_begun = False

        def interrupt(link: FakeLink, line: dict[str, Any]) -> None:
            if has_begun:
                link.say({"id": line["id"], "result": {}})
                server.end_turn(link, "interrupted")
            else:
                error = {"code": -32600, "message": "no active turn to interrupt"}
                link.say({"id": line["id"], "error": error})

        server.on["turn/interrupt"] = interrupt
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await hub.interrupt(session.id)
            assert hub.get(session.id).state == "idle"
            has_begun = True
            server.begin_turn(server.link)
            before = server.methods().count("turn/interrupt")
            await eventually(lambda: server.methods().count("turn/interrupt") > before)
            server.answers_with("awake")
            await hub.run(session.id, "again")
            await eventually(lambda: hub.get(session.id).state == "done")
            outcomes = [
                each.message.outcome
                for each in hub.entries(session.id)
                if isinstance(each.message, TurnEnded)
            ]
            assert outcomes == ["interrupted", "completed"]
            assert hub.verify() == []

    asyncio.run(story())


def test_an_agent_that_is_lost_ends_the_turn_and_the_session_goes_on(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        asks(server, 7)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(hub.approvals)
            server.link.die()
            await eventually(lambda: hub.get(session.id).state == "failed")
            assert hub.approvals() == []
            server.answers_with("fine")
            await hub.run(session.id, "again")
            await eventually(lambda: hub.get(session.id).state == "done")
            assert texts(hub.entries(session.id)) == ["fine"]
            assert [one.seq for one in hub.entries(session.id)] == list(
                range(1, hub.get(session.id).last_seq + 1)
            )
            assert hub.verify() == []

    asyncio.run(story())


def test_an_agent_that_works_for_another_speaks_in_its_session(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
            thread: dict[str, Any] = {"id": "helper", "parentThreadId": session.id, "turns": []}
            link = server.link
            link.say({"method": "thread/started", "params": {"thread": thread}})
            item = {"type": "agentMessage", "id": "m", "text": "I help."}
            params = {"threadId": "helper", "turnId": "h-1", "item": item}
            link.say({"method": "item/completed", "params": params})
            await eventually(lambda: texts(hub.entries(session.id)))
            assert hub.entries(session.id)[-1].message.session_id == "helper"
            assert [one.id for one in hub.sessions()] == [session.id]
            assert hub.get(session.id).state == "working"

    asyncio.run(story())


def test_a_turn_that_cannot_be_begun_is_said_in_the_session(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server

        def refuse(link: FakeLink, line: dict[str, Any]) -> None:
            link.say({"id": line["id"], "error": {"code": -1, "message": "no such model"}})

        server.on["turn/start"] = refuse
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "failed")
            assert "no such model" in (hub.get(session.id).error or "")
            with pytest.raises(TurnFailed):
                await hub.run(session.id, "again")

    asyncio.run(story())


def test_branching_renaming_archiving_stopping(pretence: Pretence) -> None:
    async def story() -> None:
        server = pretence.server
        server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            changes = hub.subscribe_all()
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
            branch = await hub.fork(session.id)
            assert (branch.parent, branch.parent_seq) == (session.id, 5)
            assert {one.id for one in hub.sessions()} == {session.id, branch.id}
            await hub.rename(session.id, "A name")
            await hub.archive(session.id)
            now = hub.get(session.id)
            assert (now.title, now.archived) == ("A name", True)
            await hub.archive(session.id, archived=False)
            await hub.stop(session.id)
            await hub.run(session.id, "again")
            await eventually(lambda: len(texts(hub.entries(session.id))) == 2)
            assert "thread/resume" in server.methods()
            seen: list[SessionChanged] = []
            while not {session.id, branch.id} <= {each.session.id for each in seen}:
                seen.append(await anext(changes))
            for wrong in (hub.get, hub.entries, hub.subscribe):
                with pytest.raises(UnknownSession):
                    wrong("nobody")
            assert hub.verify() == []

    asyncio.run(story())


def test_a_hub_that_is_left_and_opened_again_has_everything(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
            before = [each.json for each in hub.entries(session.id)]
            reader, changes = hub.subscribe(session.id, after=4), hub.subscribe_all()
        assert await reader.some() == []
        assert [each.session.id async for each in changes] in ([], [session.id])
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert [each.json for each in hub.entries(session.id)] == before
            assert hub.get(session.id).state == "done"
            await hub.run(session.id, "again")
            await eventually(lambda: len(texts(hub.entries(session.id))) == 2)
            assert (await hub.start(cwd=pretence.repo, resume=session.id)).id == session.id
            assert hub.verify() == []

    asyncio.run(story())


def test_a_turn_that_is_under_way_when_the_hub_is_left_is_interrupted(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).turn_id)
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert hub.get(session.id).state == "idle"
            assert kinds(hub.entries(session.id))[-1] == "turn_ended"

    asyncio.run(story())


def test_without_an_agent_there_is_still_what_was_stored(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with("one")
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            await eventually(lambda: hub.get(session.id).state == "done")
        pretence.server.silent.add("initialize")
        pretence.read_seconds = 0.2
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            assert texts(hub.entries(session.id)) == ["one"]
            harness = hub.harnesses()[0]
            assert harness.problem
            pretence.server.silent.clear()
            await hub.run(session.id, "again")
            await eventually(lambda: len(texts(hub.entries(session.id))) == 2)

    asyncio.run(story())


def test_when_nothing_can_be_stored_nothing_is_told_and_the_turn_is_stopped(
    pretence: Pretence,
) -> None:
    async def story() -> None:
        server = pretence.server
        server.starts_turns()
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo, prompt="go")
            reader = hub.subscribe(session.id)
            assert kinds([await anext(reader), await anext(reader)])[-1] == "turn_started"
            with sqlite3.connect(pretence.data / "live.db") as other:
                other.execute("ALTER TABLE journal RENAME TO hidden")
            server.say_text(server.link, "unstored")
            await eventually(lambda: "turn/interrupt" in server.methods())
            with pytest.raises(LiveStoreUnusable):
                await hub.start(cwd=pretence.repo)
            with other:
                other.execute("ALTER TABLE hidden RENAME TO journal")
            other.close()
            told = await read_until(reader, is_end)
            assert texts(told) == ["unstored"]
            assert hub.verify() == []

    asyncio.run(story())


def test_an_entry_is_in_the_store_before_anybody_is_told(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.server.answers_with(*(f"t{n}" for n in range(100)))
        async with asyncio.timeout(SECONDS), pretence.hub() as hub:
            session = await hub.start(cwd=pretence.repo)
            reader = hub.subscribe(session.id)
            await hub.run(session.id, "go")
            with sqlite3.connect(pretence.data / "live.db") as other:
                async for told in reader:
                    assert isinstance(told, Entry)
                    [(last,)] = other.execute("SELECT max(entry_id) & 4294967295 FROM entries")
                    [(line,)] = other.execute("SELECT max(line_id) & 4294967295 FROM journal")
                    assert last >= told.seq
                    assert line >= told.message.line
                    if is_end(told.message):
                        break
            other.close()

    asyncio.run(story())
