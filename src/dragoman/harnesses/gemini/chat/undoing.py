"""The turns of a chat file, and what takes them back.

A turn is taken back by a list of messages without its prompt, which is how the program undoes one that was cancelled
or has failed; and by ``$rewindTo``, which is how a person does. Neither says why the turn ended.
"""

from __future__ import annotations

from dragoman.harnesses.assembly.assembler import SessionAssembler


class ChatTurns:
    """Where in the log each turn began."""

    def __init__(self, session: SessionAssembler) -> None:
        self._session = session
        self._order: dict[str, int] = {}
        """The number of turns that had begun when each message was written first."""
        self._begun: list[bool] = []
        """The turns so far, and whether each still counts."""
        self._prompt: str | None = None
        """The message that began the newest turn."""
        self._sets_up = False
        """Whether a run of the program has just begun: its first list is that of an empty chat."""

    def begin_run(self) -> None:
        self._sets_up = True

    def begin(self, name: str) -> None:
        self._sets_up = False
        self._session.begin_turn(name)
        self._begun.append(True)
        self._order[name] = len(self._begun)
        self._prompt = name

    def see(self, name: str | None) -> None:
        """A message of the open turn."""
        self._sets_up = False
        if name is not None:
            self._order.setdefault(name, len(self._begun))

    def set_messages(self, names: list[str], *, has_news: bool) -> None:
        """The list of messages is replaced. One without the newest prompt takes its turn back."""
        sets_up, self._sets_up = self._sets_up, False
        prompt = self._prompt
        if sets_up or prompt is None or prompt in names or not self._session.in_turn:
            return
        if has_news:  # a summary takes the place of what was said
            self._session.leave(may_go_on=True)
            return
        self._begun[-1] = False
        self._session.end_turn("interrupted")

    def rewind_to(self, name: str) -> int:
        """This message and all that follow are removed; how many turns that undoes."""
        self._session.leave(may_go_on=True)
        first = self._order.get(name, 1) - 1
        undone = sum(self._begun[first:])
        self._begun[first:] = [False] * len(self._begun[first:])
        return undone
