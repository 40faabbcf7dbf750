"""The tool calls of a session: each gets exactly one result, whatever the stream leaves out."""

from __future__ import annotations

from typing import Any, Final

_OPEN: Final = 0
_CLOSED: Final = 1
_ABANDONED: Final = 2


class SessionCalls:
    """The calls of one session, with what open ones were given and have put out.

    Calls of the previous turn are remembered, because results may arrive after the turn has ended.
    Older calls are forgotten, so that a long session stays small and may use an id again; only an
    abandoned call is kept until its real result arrives.
    """

    __slots__ = ("_earlier", "_inputs", "_natives", "_now", "_streamed")

    def __init__(self) -> None:
        self._now: dict[str, int] = {}
        self._earlier: dict[str, int] = {}
        self._inputs: dict[str, dict[str, Any]] = {}
        self._natives: dict[str, dict[str, Any]] = {}
        self._streamed: dict[str, list[str]] = {}
        """What open calls have put out so far, in case no result repeats it."""

    def opens(self, call_id: str, given: dict[str, Any] | None = None) -> bool:
        """Whether this is the first report of the call."""
        if call_id in self._now or call_id in self._earlier:
            return False
        self._now[call_id] = _OPEN
        if given is not None:
            self._inputs[call_id] = given
        return True

    def closes(self, call_id: str) -> bool:
        """Whether this is the call's first result, or the first after it was abandoned."""
        book = self._earlier if call_id in self._earlier else self._now
        if book.get(call_id) == _CLOSED:
            return False
        book[call_id] = _CLOSED
        return True

    def abandons(self, call_id: str) -> bool:
        """Whether the call is abandoned now: it had no result yet. A real one may still come."""
        book = self._earlier if call_id in self._earlier else self._now
        if book.get(call_id, _OPEN) != _OPEN:
            return False
        book[call_id] = _ABANDONED
        return True

    def release(self, call_id: str) -> str:
        """Forget the details of a call that has ended; the output that was streamed for it."""
        self._inputs.pop(call_id, None)
        if self._natives:
            self._natives.pop(call_id, None)
        return "".join(self._streamed.pop(call_id, ())) if self._streamed else ""

    def is_known(self, call_id: str) -> bool:
        return call_id in self._now or call_id in self._earlier

    def is_open(self, call_id: str) -> bool:
        return self._now.get(call_id) == _OPEN

    def is_closed(self, call_id: str) -> bool:
        return self._now.get(call_id, self._earlier.get(call_id)) == _CLOSED

    def is_over(self, call_id: str) -> bool:
        """Whether it has an end, even if it was only abandoned."""
        return self._now.get(call_id, self._earlier.get(call_id, _OPEN)) != _OPEN

    def any_open(self) -> bool:
        return _OPEN in self._now.values()

    def input_of(self, call_id: str) -> dict[str, Any]:
        """The input of a call that is still open."""
        return self._inputs.get(call_id, {})

    def keep_native(self, call_id: str, **facts: Any) -> None:
        """Remember the harness's own form of an open call: an approval must show it unchanged."""
        self._natives[call_id] = facts

    def native_of(self, call_id: str) -> dict[str, Any]:
        return self._natives.get(call_id, {})

    def add_output(self, call_id: str, text: str) -> None:
        """Remember a piece of output, unless the call is not open: then its result has it."""
        if self.is_open(call_id):
            self._streamed.setdefault(call_id, []).append(text)

    def output_of(self, call_id: str) -> str:
        """The output that was streamed for an open call so far."""
        return "".join(self._streamed.get(call_id, ()))

    def abandon_open(self) -> list[tuple[str, str]]:
        """End the turn: the calls without a result, in order, each with the output it streamed."""
        left = [call_id for call_id, state in self._now.items() if state == _OPEN]
        abandoned = dict.fromkeys(left, _ABANDONED)
        kept = {call_id: state for call_id, state in self._earlier.items() if state == _ABANDONED}
        self._earlier = kept | self._now | abandoned
        self._now = {}
        outputs = [(call_id, self.output_of(call_id)) for call_id in left]
        self._inputs.clear()
        self._natives.clear()
        self._streamed.clear()
        return outputs

    def earlier(self) -> dict[str, int]:
        """The state of each call of the previous turn."""
        return dict(self._earlier)

    def restore(self, earlier: dict[str, int]) -> None:
        """Take over the calls of the previous turn."""
        self._earlier = earlier
