"""Reports items that are text: messages, reasoning, plans, reviews, notices."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.failures import words_of
from dragoman.harnesses.codex.items.shape import Tell, ThreadItem, phase_of, user_input
from dragoman.harnesses.codex.tools.calls import plan_steps
from dragoman.harnesses.codex.tools.reviews import review_text
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str, texts_in
from dragoman.model.messages import DeltaOf, PlanStep


def _user_message(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    text, images = user_input(item.content)
    session.prompt(channel, text, images, item.id or None)


def _agent_message(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    text = item.text if item.text is not None else texts_in(_untagged(item.content))
    if not done:
        _begun(session, channel, "text", text, item.id)
        return
    session.text(channel, text, phase=phase_of(item.phase), message_id=item.id or None)
    _moderated(session, channel, as_dict(item.moderation))


def _moderated(session: SessionAssembler, channel: str, moderation: dict[str, Any]) -> None:
    """Since 0.169 a text may be marked as moderated, and how it should be shown."""
    display = as_dict(moderation.get("display"))
    if not (moderation.get("moderated") or display):
        return
    words = [f"{name} {value}" for name, value in display.items() if value not in (None, "")]
    text = "the text was moderated" if moderation.get("moderated") else "how to show the text"
    session.notice(channel, "warning", f"{text}: {', '.join(words)}" if words else text)


def _begun(session: SessionAssembler, channel: str, of: DeltaOf, text: str, item_id: str) -> None:
    """An item began or changed: its end will have it whole, unless it never comes."""
    if text and item_id:
        session.snapshot(channel, of, text, item_id)
    else:
        session.duplicate("item: its end carries it")


def _untagged(content: Any) -> Any:
    """Releases 0.53 to 0.58 wrote ``[{"Text": {"text": …}}]``."""
    return [next(iter(as_dict(part).values()), "") if "Text" in as_dict(part) else part
            for part in as_list(content)]  # fmt: skip


def _reasoning(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    parts = item.summary or item.summary_text or ([item.text] if item.text else [])
    if item.raw_content:
        parts = parts + item.raw_content
    elif item.content:
        parts = parts + [text for text in as_list(item.content) if isinstance(text, str)]
    if not done:
        _begun(session, channel, "thinking", "\n".join(parts), item.id)
        return
    session.thinking(channel, parts, item.id or None)


def _hook_prompt(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    if done:
        texts = [as_str(as_dict(part).get("text")) or "" for part in as_list(item.fragments)]
        session.context("user", "\n".join(texts))
    else:
        session.duplicate("item: its end carries it")


def _todo_list(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    steps, _ = plan_steps({"plan": item.items})
    session.plan(steps)


def _plan(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    text = item.text or ""
    if not done:
        _begun(session, channel, "plan", text, item.id)
        return
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if all(line[:2] in ("- ", "* ") for line in lines):
        session.plan([PlanStep(line[2:].strip()) for line in lines])
    else:
        session.plan([], text)  # a plan in words


def _compaction(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    if done:
        session.compacted(channel)
    else:
        session.duplicate("item: its end carries it")


def _error(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    words = (item.message or item.text, as_str(item.details) or words_of(item.error))
    session.notice(channel, "warning", "\n".join(filter(None, words)))


def _entered_review(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    session.begin_review(item.review or item.user_facing_hint or "")


def _exited_review(session: SessionAssembler, channel: str, item: ThreadItem, done: bool) -> None:
    text = item.review or review_text(item.review_output)
    if not done:
        _begun(session, channel, "text", text, item.id)
        return
    session.text("review", text, message_id=item.id or None)


TELL: Final[dict[str, Tell]] = {
    "user_message": _user_message,
    "agent_message": _agent_message,
    "assistant_message": _agent_message,
    "reasoning": _reasoning,
    "hook_prompt": _hook_prompt,
    "todo_list": _todo_list,
    "plan": _plan,
    "context_compaction": _compaction,
    "error": _error,
    "entered_review_mode": _entered_review,
    "exited_review_mode": _exited_review,
}
