from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.drive.secrets import MASK, Secrets, mask
from dragoman.model.secrets import secrets_in

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc+/=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key sk-proj-abcDEF123_456-789xyz.", f"key sk-{MASK}."),
        ("sk-ant-api03-abcdefghijk", f"sk-{MASK}"),
        ("Authorization: Bearer abc.def-123456", f"Authorization: Bearer {MASK}"),
        ("authorization: basic dXNlcjpwYXNz", f"authorization: basic {MASK}"),
        ("ghp_abcdefghij0123456789abcdefghij012345", f"ghp_{MASK}"),
        ("github_pat_11AAAAAAA0abcdefghij", f"github_pat_{MASK}"),
        ("AKIAIOSFODNN7EXAMPLE", f"AKIA{MASK}"),
        ("AIzaSyA-1234567890abcdefghijklmnopqrstu", f"AIza{MASK}"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", f"aws_secret_access_key = {MASK}"),
        ("api_key=abcdef0123456789&x=1", f"api_key={MASK}&x=1"),
        ('{"apiKey": "abcdef0123456789", "n": 1}', f'{{"apiKey": "{MASK}", "n": 1}}'),
        ('{\\"token\\":\\"abcdef0123456789\\"}', f'{{\\"token\\":\\"{MASK}\\"}}'),
        ("password: correcthorse", f"password: {MASK}"),
        ("https://me:hunter2@host/x", f"https://me:{MASK}@host/x"),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.SflKxw", MASK),
        (f"before\n{KEY}\nafter", f"before\n{MASK}\nafter"),
        ("before\n-----BEGIN PRIVATE KEY-----\nMIIE", f"before\n{MASK}"),
        ("abc+/=\n-----END PRIVATE KEY-----\nafter", f"{MASK}\nafter"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, masked: str) -> None:
    assert mask(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "input_tokens=123456789 total_tokens: 987654321",
        "a task-runner-for-everything and a risk-assessment-of-it",
        "bearer of bad news",
        "https://host:8080/path",
        "secret: no",
        "",
    ],
)
def test_what_does_not_is_left_alone(text: str) -> None:
    assert mask(text) == text


def test_values_are_hidden_however_they_are_spelled() -> None:
    secret = 'pa"ss/wörd\\1'

    for spelled in (secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False)):
        assert mask(f"<{spelled.strip()}>", [secret]).replace('"', "") == f"<{MASK}>"
    assert mask("pa%22ss%2Fw%C3%B6rd%5C1", [secret]) == MASK


def test_the_longer_of_two_values_goes_first() -> None:
    assert mask("abcdefgh", ["abcdef", "abcdefgh"]) == MASK


def test_short_values_are_words() -> None:
    assert mask("a yes and a no", ["a", "yes", "no", ""]) == "a yes and a no"
    assert Secrets(["a"]).longest == 0
    assert Secrets(["abcdef"]).longest == 6


@given(st.text(min_size=6).filter(lambda text: len(text.strip()) >= 6), st.text(), st.text())
def test_a_value_is_never_left(secret: str, before: str, after: str) -> None:
    """Unless the mask itself, or its neighbours, make it up again."""
    masked = Secrets([secret])._text
    assert masked
    assert all(secret not in part for part in masked.split(before + secret + after))


def test_a_line_of_the_wire_loses_the_values_only() -> None:
    line = b'{"key":"swordfish","other":"sk-abcdefghijklmnop"}'

    assert Secrets(["swordfish"]).mask_line(line) == (
        b'{"key":"[secret]","other":"sk-abcdefghijklmnop"}'
    )
    assert Secrets().mask_line(line) == line


def test_an_environment_says_by_its_names_what_is_secret() -> None:
    env = {
        "OPENAI_API_KEY": "one",
        "GITHUB_TOKEN": "two",
        "DB_PASSWORD": "three",
        "AWS_SECRET_ACCESS_KEY": "four",
        "KEYBOARD": "us",
        "PATH": "/bin",
        "TOKENIZERS_PARALLELISM": "false",
    }

    assert secrets_in(env) == ("one", "two", "three", "four")
