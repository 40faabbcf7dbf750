"""Reads what the page is made of and complains of whatever a stranger could have put there."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = frozenset({"meta", "img", "br", "hr", "input", "link", "rect", "line"})
_NEVER = frozenset({"iframe", "object", "embed", "style", "base", "math", "video", "audio"})
_ATTRIBUTES = frozenset({"style", "srcdoc", "formaction", "ping", "background"})


class Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in _NEVER, tag
        given = dict(attrs)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in _ATTRIBUTES, (tag, name)
            if name in ("href", "action"):
                known = ("#", "/", "http://", "https://", "mailto:")
                assert (value or "").startswith(known), (tag, value)
            if name == "src":
                own = ("/static/", "data:image/png", "data:image/jpeg", "data:image/gif")
                assert (value or "").startswith((*own, "data:image/webp")), (tag, value)
            if name == "id":
                self.ids.append(value or "")
        if tag == "script":
            self.scripts.append(given.get("src") or "")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open, tag
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        assert not self.open or self.open[-1] != "script", data
        self.texts.append(data)


def check(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids)), "an id twice"
    return checker
