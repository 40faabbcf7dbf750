"""Notifications that only documents show: ``item/created`` and ``item/delta``.

No release has sent them, but people have written programs against the documents. The text may be in
any of four nestings; it is told in pieces as it comes, and whole when the item is over.
"""

from __future__ import annotations

import msgspec

from dragoman.harnesses.codex.app_server_sessions import Sessions
from dragoman.harnesses.codex.app_server_shapes import ABSENT, Params
from dragoman.harnesses.codex.loose import as_dict, texts_in
from dragoman.harnesses.codex.threads import Thread
from dragoman.model.messages import DeltaOf


class Spelled:
    """The items that are being spelled out, one for each session."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._open: dict[str, tuple[DeltaOf, list[str]]] = {}

    def created(self, params: Params) -> bool:
        thread = self._sessions.thread_of(params)
        self.finish(thread)
        item = as_dict(msgspec.json.decode(params.item)) if params.item is not ABSENT else {}
        kind = f"{item.get('type', '')} {item.get('purpose', '')}".lower()
        of: DeltaOf = "thinking" if "reasoning" in kind else "plan" if "plan" in kind else "text"
        teller = self._sessions.introduce(thread)
        self._sessions.enter_turn(thread, params.turn_id)
        text = texts_in(item)
        self._open[teller.session_id or ""] = (of, [text])
        teller.delta("spelled", of, text)
        return True

    def delta(self, params: Params) -> bool:
        thread = self._sessions.thread_of(params)
        teller = self._sessions.introduce(thread)
        text = texts_in(params.delta)
        if not text and params.item is not ABSENT:
            text = texts_in(msgspec.json.decode(params.item))
        of, texts = self._open.setdefault(teller.session_id or "", ("text", []))
        texts.append(text)
        teller.delta("spelled", of, text)
        return True

    def finish(self, thread: Thread) -> None:
        """Tell whole what was created and then came in pieces."""
        of, texts = self._open.pop(thread.teller.session_id or "", ("text", []))
        text = "".join(texts)
        if not text:
            return
        if of == "thinking":
            thread.teller.thinking("spelled", [text])
        elif of == "plan":
            thread.teller.plan([], text)
        else:
            thread.teller.text("spelled", text)
