from __future__ import annotations

import pytest

from dragoman.model.secrets.assigning import assigned, is_named_secret, lowered


def values(text: str) -> list[str]:
    return [text[begin:end] for begin, end in assigned(text, lowered(text))]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password: coppertulip", "coppertulip"),
        ("password: |\n  coppertulip\n", "coppertulip"),
        ('"password": "say\\"hi\\"1"', 'say\\"hi\\"1'),
        ('{\\"password\\": \\"copper$1\\"}', "copper$1"),
        ("PASSWORD=p,a;ss&w0rd)", "p,a;ss&w0rd)"),
        ("?password=coppertulip&x=1", "coppertulip"),
        ("--password coppertulip --x", "coppertulip"),
        ("define('DB_PASSWORD', 'coppertulip');", "coppertulip"),
        ("<password>coppertulip</password>", "coppertulip"),
        ("- name: DB_PASSWORD\n  value: coppertulip", "coppertulip"),
        ("| DB_PASSWORD | copper1tulip |", "copper1tulip"),
    ],
)
def test_a_name_is_given_a_value(text: str, value: str) -> None:
    assert value in values(text)


@pytest.mark.parametrize(
    "text",
    [
        'fields = ("password", "username")',
        "${PASSWORD:?must be set}",
        "pass '--nope' on",
        "the password is wrong",
    ],
)
def test_other_neighbours_are_no_values(text: str) -> None:
    assert values(text) == []


def test_the_lower_case_text_has_the_same_places() -> None:
    assert len(lowered("\u0130 PASSWORD")) == len("\u0130 PASSWORD")


def test_a_field_is_known_by_its_name() -> None:
    assert is_named_secret("DB_PASSWORD", "coppertulip")
    assert not is_named_secret("password", "string")
