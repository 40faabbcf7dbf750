"""Where on a page the words of a session go: into a turn of its own, or into a sub-agent's group.

A session stands on the page itself unless it is a sub-agent of one that does. Sessions that take
turns in speaking are told apart by a line; sections and groups are closed whoever comes next.
"""

from __future__ import annotations

from typing import Final

from dragoman.export.html import page
from dragoman.export.html.flow import Flow, Group
from dragoman.export.html.session import SessionSummary, Sums
from dragoman.html.pieces import Html, element, joined, opening
from dragoman.model.messages import Message, SessionStarted
from dragoman.rendering import render

_TITLE_WIDTH: Final = 80


class Places:
    def __init__(self) -> None:
        self.flow = Flow()
        self.sums = Sums()
        self.sessions: dict[str | None, SessionSummary] = {}
        self.entries: list[page.ContentsEntry] = []
        self.main: SessionSummary | None = None
        """The session whose words came last, of those that are nobody's sub-agents."""
        self.first: SessionSummary | None = None
        """The session that the head of the page speaks of."""
        self.title = ""
        self.has_begun = False
        """Whether anything has been said that belongs to a turn."""

    def session(self, message: Message) -> SessionSummary:
        if message.session_id is None and self.main is not None:
            return self.main
        session = self.sessions.get(message.session_id)
        if session is None:
            session = self.sessions[message.session_id] = SessionSummary(message.session_id)
            # Some words of a sub-agent come before it has been introduced.
            parent = self.main if self.main and self.main.delegates else None
            if isinstance(message, SessionStarted) and message.parent_session_id:
                known = self.sessions.get(message.parent_session_id)
                parent = known if known and known.delegates else None
            session.parent = parent
            self.sums.agents += parent is not None
        return session

    def _place(self, session: SessionSummary) -> Group:
        """The group that the session's words go to."""
        if session.parent is None:
            self._take_over(session)
            return self.flow.root
        if session.group is None or session.group.is_gone or not session.group.is_open:
            outer = self._place(session.parent)
            words = [element("span", "Sub-agent", class_="name"), " ", session.title]
            begin = joined(
                [opening("details", class_="agent", open=True), element("summary", *words)], "\n"
            )
            session.group = self.flow.begin(outer, Html(f"{begin}\n"), Html("</details>\n"))
        return session.group

    def _take_over(self, session: SessionSummary) -> None:
        """Let a session speak on the page itself, after another one did."""
        if self.main is session:
            return
        if self.main is not None and self.main.has_section:
            self.flow.add(self.flow.root, Html("</section>\n"))
            self.main.has_section = False
        # What has no name may be the beginning of any session, and is taken for that of the next.
        if self.main is not None and self.main.session_id is not None:
            words = f"Session {session.title}"
            self.flow.add(self.flow.root, element("p", words, class_="divider"))
        self.main = session
        if session.session_id is not None:
            self.first = self.first or session

    def add(self, session: SessionSummary, html: Html) -> None:
        self.flow.add(self._place(session), Html(f"{html}\n"))

    def said(self, session: SessionSummary, message: Message, html: Html) -> None:
        """Add something that belongs to a turn."""
        self.in_turn(session, message)
        self.add(session, html)

    def in_turn(self, session: SessionSummary, message: Message) -> Group:
        self.has_begun = True
        place = self._place(session)
        if not session.in_turn:
            self.open_turn(session, message)
        elif not session.has_section and session.parent is None:
            session.has_section = True
            again = page.turn_opening(session.number, None, is_continued=True)
            self.flow.add(place, Html(f"{again}\n"))
        return place

    def open_turn(self, session: SessionSummary, message: Message) -> None:
        self.close_turn(session)
        place = self._place(session)
        session.in_turn, session.announced, session.turn_at = True, False, message.at
        if session.parent is not None:
            session.number += 1
            return
        self.entries.append(page.ContentsEntry(len(self.entries) + 1))
        session.number, session.has_section = len(self.entries), True
        begin = page.turn_opening(session.number, message.at)
        self.flow.add(place, Html(f"{begin}\n"))

    def close_turn(self, session: SessionSummary) -> None:
        if not session.in_turn:
            return
        for held in session.cards.values():
            self.flow.release(held.slot)
        for held, _ in session.approvals.values():
            self.flow.release(held.slot)
        session.cards.clear()
        session.approvals.clear()
        session.calls.end_turn()
        session.in_turn = False
        if session.group is not None:
            self.flow.end(session.group)
            session.group = None
        if session.has_section:
            session.has_section = False
            self.flow.add(self.flow.root, Html("</section>\n"))

    def entitle(self, session: SessionSummary, message: Message, words: str) -> None:
        """Let the first prompt name its turn, and the first of all the page."""
        if session.parent is not None:
            return
        if not session.in_turn:
            self.open_turn(session, message)
        entry = self.entries[session.number - 1]
        entry.title = entry.title or render.one_line(words, _TITLE_WIDTH)
        self.title = self.title or entry.title
