from __future__ import annotations

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest

from dragoman.harnesses.codex.writing.session import new_id
from dragoman.harnesses.contract.conversation import Release
from dragoman.harnesses.contract.writer import HandedConversation, HandedTurn
from dragoman.model.messages import Compacted, Context, Prompt, Text, Thinking, TurnError
from support.handoff import AT, conversation, messages_in, use, write


def test_an_id_begins_with_the_time() -> None:
    name = UUID(new_id(AT, bytes(16)))

    assert name.version == 7
    assert name.int >> 80 == int(AT.timestamp() * 1000)
    assert new_id(AT, b"\xff" * 16) != new_id(AT, bytes(16))


def test_the_file_is_where_codex_looks_for_it() -> None:
    written = write("codex", conversation(Prompt(text="go")))
    session_id = json.loads(written.lines[0])["payload"]["id"]

    assert written.file == f"sessions/2026/11/19/rollout-2026-11-19T08-30-00-{session_id}.jsonl"


def test_thoughts_are_shown_and_not_sent() -> None:
    written = write("codex", conversation(Prompt(text="go"), Thinking(text="hm"), Text(text="ok")))
    items = [json.loads(line)["payload"] for line in written.lines if b'"response_item"' in line]

    assert [item["type"] for item in items] == ["message", "message"]
    assert [each.text for each in messages_in(written) if isinstance(each, Thinking)] == ["hm"]
    [loss] = written.losses
    assert (loss.kind, loss.count, loss.kept) == ("thinking", 1, True)


def test_images_that_are_in_the_conversation_are_sent_and_files_are_named() -> None:
    prompt = Prompt(text="look", images=["data:image/png;base64,AA==", "/tmp/x.png"])
    written = write("codex", conversation(prompt))
    [item] = [json.loads(line)["payload"] for line in written.lines if b'"response_item"' in line]

    assert item["content"] == [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
        {"type": "input_text", "text": "[image: /tmp/x.png]"},
    ]
    assert [(loss.kind, loss.count) for loss in written.losses] == [("images", 1)]


@pytest.mark.parametrize(("release", "kind"), [((0, 44, 0), Context), ((0, 53, 0), Compacted)])
def test_a_summary_is_a_row_that_the_release_knows(release: Release, kind: type) -> None:
    handed = HandedConversation(
        summary="so far", turns=[HandedTurn(number=3, parts=[Prompt(text="go")])]
    )
    messages = messages_in(write("codex", handed, release))

    [found] = [each for each in messages if isinstance(each, Compacted | Context)]
    assert type(found) is kind
    assert "so far" in str(found)


def test_the_model_is_told_of_an_interruption() -> None:
    written = write("codex", conversation(Prompt(text="go"), outcome="interrupted"))

    assert any(b"<turn_aborted>" in line and b"response_item" in line for line in written.lines)


def test_a_failure_keeps_its_words() -> None:
    error = TurnError("response_error", "quota is gone", retryable=False)
    written = write("codex", conversation(Prompt(text="go"), outcome="failed", error=error))

    assert any(b"quota is gone" in line for line in written.lines)
    assert [loss.kind for loss in written.losses] == ["errors"]


def test_losses_name_the_tools() -> None:
    calls = [use("Read", {"file_path": "/a"}), use("update_topic", {}), use("update_topic", {})]
    written = write("codex", conversation(Prompt(text="go"), *calls))

    assert [(loss.count, loss.names) for loss in written.losses] == [
        (1, ("Read",)), (2, ("update_topic",)),
    ]  # fmt: skip


def test_times_are_those_of_the_first_session() -> None:
    then = datetime(2026, 1, 2, 3, tzinfo=UTC)
    written = write("codex", conversation(Prompt(text="go", at=then), at=then))
    times = {json.loads(line)["timestamp"][:10] for line in written.lines[1:-1]}

    assert times == {"2026-01-02"}
