"""Notifications that only documents show: ``item/created`` and ``item/delta``.

No release has sent them, but people have written programs against the documents. An item is a text, a
thought, a plan, a picture or a prompt, or one of the items that the server does send. The text may be in
any of four nestings; it is emitted in pieces as it comes, and whole when the item is over.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.codex.app_server.sessions import ConnectionSessions
from dragoman.harnesses.codex.app_server.shapes import ABSENT, Params, decode_item
from dragoman.harnesses.codex.items.dispatch import SAID, tell_item
from dragoman.harnesses.codex.items.shape import user_input
from dragoman.harnesses.codex.threads import Thread
from dragoman.harnesses.codex.tools.calls import plan_steps
from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str, texts_in
from dragoman.model.messages import DeltaOf

_CHANNEL = "item"


class Spelled:
    """The items that are being spelled out, one for each session."""

    def __init__(self, sessions: ConnectionSessions) -> None:
        self._sessions = sessions
        self._open: dict[str, tuple[DeltaOf, list[str]]] = {}

    def created(self, params: Params) -> bool:
        thread = self._sessions.thread_of(params)
        self.finish(thread)
        item = as_dict(msgspec.json.decode(params.item)) if params.item is not ABSENT else {}
        session = self._sessions.introduce(thread)
        self._sessions.enter_turn(thread, params.turn_id)
        kind = f"{item.get('type', '')} {item.get('purpose', '')} {item.get('role', '')}".lower()
        if "user" in kind:
            content = item.get("content")
            images = user_input(content)[1]
            session.prompt(_CHANNEL, texts_in(item), images, as_str(item.get("id")))
            return True
        if as_str(item.get("type")) not in SAID and tell_item(
            session, _CHANNEL, decode_item(params.item), done="status" not in item or _is_done(item)
        ):
            return True
        of: DeltaOf = "thinking" if "reasoning" in kind else "plan" if "plan" in kind else "text"
        if of == "plan" and self._tell_steps(session, item):
            return True
        if "image" in kind:
            return self._tell_picture(session, item)
        text = texts_in(item)
        if not text and not _may_be_empty(item):
            return False  # an unknown type
        self._open[session.session_id or ""] = (of, [text])
        session.delta(_CHANNEL, of, text)
        return True

    def _tell_steps(self, session: SessionAssembler, item: dict[str, Any]) -> bool:
        """A plan as a list of steps."""
        given = next((item[name] for name in ("steps", "plan", "items") if item.get(name)), None)
        steps, _ = plan_steps({"plan": given if isinstance(given, list) else None})
        if not steps:
            return False
        words = (as_str(item.get("explanation")), texts_in(item))
        session.plan(steps, "\n".join(filter(None, words)) or None)
        return True

    def _tell_picture(self, session: SessionAssembler, item: dict[str, Any]) -> bool:
        """A picture that the agent shows: a tool that has made it."""
        given = {
            name: value for name, value in item.items() if name not in ("type", "id", "status")
        }
        call_id = as_str(item.get("id")) or f"line-{self._sessions.out.line}"
        session.call(call_id, "image", str(item.get("type")), given)
        where = (as_str(given.get(name)) for name in ("path", "url", "imageUrl", "image_url"))
        session.result(call_id, next(filter(None, where), ""))
        return True

    def delta(self, params: Params) -> bool:
        thread = self._sessions.thread_of(params)
        session = self._sessions.introduce(thread)
        self._sessions.enter_turn(thread, params.turn_id)
        text = texts_in(params.delta)
        if not text and params.item is not ABSENT:
            text = texts_in(msgspec.json.decode(params.item))
        of, texts = self._open.setdefault(session.session_id or "", ("text", []))
        texts.append(text)
        session.delta(_CHANNEL, of, text)
        return True

    def finish(self, thread: Thread) -> None:
        """Report whole what was created and then arrived in deltas."""
        of, texts = self._open.pop(thread.session.session_id or "", ("text", []))
        text = "".join(texts)
        if not text:
            return
        if of == "thinking":
            thread.session.thinking("spelled", [text])
        elif of == "plan":
            thread.session.plan([], text)
        else:
            thread.session.text("spelled", text)


def _is_done(item: dict[str, Any]) -> bool:
    return item.get("status") in ("completed", "failed", "declined")


def _may_be_empty(item: dict[str, Any]) -> bool:
    """Whether an item without words may be the beginning of one."""
    said = ("type", "purpose", "role", "id", "status", "phase", "text", "textDelta", "content")
    return not item.keys() - set(said) and not any(map(as_list, (item.get("content"),)))
