from __future__ import annotations

import re

import pytest

from dragoman.model.secrets.finding import find_secrets
from dragoman.model.secrets.places import PLACES


def test_every_row_has_a_hint_and_names_the_secret() -> None:
    for place in PLACES:
        assert place.words or place.signs, place.pattern
        assert "secret" in re.compile(place.pattern).groupindex, place.pattern
        assert all(word == word.lower() for word in place.words), place.words


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("mysql -u root -pcoppertulip app", "coppertulip"),
        ('["sshpass", "-p", "coppertulip", "ssh"]', "coppertulip"),
        ("amqp://svc:p@ss!word@mq:5672/", "p@ss!word"),
        ("db.test:5432:prod:app:coppertulip", "coppertulip"),
        ("Set-Cookie: sid=abcdef123456; HttpOnly", "abcdef123456"),
        ("CREATE USER x IDENTIFIED BY 'copper tulip'", "copper tulip"),
    ],
)
def test_a_place_shows_its_secret(text: str, secret: str) -> None:
    assert [text[found.begin : found.end] for found in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "sshpass -p {password} ssh host",
        "mysql -u root -p",
        "mkdir -p build/output",
        "docker run -p 8080:80 nginx",
        "app.ts:1203:17:TS2322:error",
        "2001:db8:1234:5678:9abc::1",
    ],
)
def test_what_stands_in_no_such_place_stays(text: str) -> None:
    assert find_secrets(text) == []
