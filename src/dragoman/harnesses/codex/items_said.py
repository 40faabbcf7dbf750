"""Telling items that are words: messages, reasoning, plans, reviews, notices."""

from __future__ import annotations

from typing import Any, Final

from dragoman.harnesses.codex.item_shape import Item, Tell, phase_of, user_input
from dragoman.harnesses.codex.loose import as_dict, as_list, as_str, texts_in
from dragoman.harnesses.codex.reviews import review_text
from dragoman.harnesses.codex.tools import plan_steps
from dragoman.harnesses.telling.teller import Teller
from dragoman.model.messages import PlanStep


def _user_message(teller: Teller, channel: str, item: Item, done: bool) -> None:
    text, images = user_input(item.content)
    teller.prompt(channel, text, images, item.id or None)


def _agent_message(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.text if item.text is not None else texts_in(_untagged(item.content))
    teller.text(channel, text, phase=phase_of(item.phase), message_id=item.id or None)


def _untagged(content: Any) -> Any:
    """Releases 0.53 to 0.58 wrote ``[{"Text": {"text": …}}]``."""
    return [next(iter(as_dict(part).values()), "") if "Text" in as_dict(part) else part
            for part in as_list(content)]  # fmt: skip


def _reasoning(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    parts = item.summary or item.summary_text or ([item.text] if item.text else [])
    if item.raw_content:
        parts = parts + item.raw_content
    elif item.content:
        parts = parts + [text for text in as_list(item.content) if isinstance(text, str)]
    teller.thinking(channel, parts, item.id or None)


def _hook_prompt(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if done:
        texts = [as_str(as_dict(part).get("text")) or "" for part in as_list(item.fragments)]
        teller.context("user", "\n".join(texts))
    else:
        teller.twin("item: its end says it")


def _todo_list(teller: Teller, channel: str, item: Item, done: bool) -> None:
    steps, _ = plan_steps({"plan": item.items})
    teller.plan(steps)


def _plan(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.text or ""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if all(line[:2] in ("- ", "* ") for line in lines):
        teller.plan([PlanStep(line[2:].strip()) for line in lines])
    else:
        teller.plan([], text)  # a plan in words


def _compaction(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if done:
        teller.compacted(channel)
    else:
        teller.twin("item: its end says it")


def _error(teller: Teller, channel: str, item: Item, done: bool) -> None:
    teller.notice(channel, "warning", item.message or item.text or "")


def _entered_review(teller: Teller, channel: str, item: Item, done: bool) -> None:
    teller.begin_review(item.review or item.user_facing_hint or "")


def _exited_review(teller: Teller, channel: str, item: Item, done: bool) -> None:
    if not done:
        teller.twin("item: its end says it")
        return
    text = item.review or review_text(item.review_output)
    teller.text("review", text, message_id=item.id or None)


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
