"""The hub on a server that lives in memory."""

from __future__ import annotations

import asyncio
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
    Forbidden,
    KeyUsedDifferently,
    SessionChanged,
    UnknownSession,
)
from dragoman.model.messages import ApprovalSettled, Notice
from support.agents.hubs import (
    SECONDS,
    FakeLink,
    Pretence,
    asks,
    eventually,
    texts,
)


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


def test_a_hub_need_not_wait_for_its_agent(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.may_be_reached = asyncio.Event()
        async with asyncio.timeout(SECONDS), pretence.hub(waits=False) as hub:
            assert hub.harnesses()[0].state == "stopped"
            await hub.connected(0.01)
            assert hub.harnesses()[0].state == "stopped"
            starting = asyncio.ensure_future(hub.start(cwd=pretence.repo, prompt="go"))
            pretence.may_be_reached.set()
            await hub.connected()
            assert hub.harnesses()[0].state == "running"
            assert (await starting).id

    asyncio.run(story())


def test_a_hub_can_be_left_before_its_agent_is_there(pretence: Pretence) -> None:
    async def story() -> None:
        pretence.may_be_reached = asyncio.Event()
        async with asyncio.timeout(SECONDS), pretence.hub(waits=False) as hub:
            assert hub.sessions() == []

    asyncio.run(story())
