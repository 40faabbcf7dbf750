from __future__ import annotations

import pytest

from dragoman.model.secrets.naming import sound, words


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DB_PASSWORD", "password"),
        ("PGPASSWORD", "password"),
        ("spring.datasource.password", "password"),
        ("smtpPass", "password"),
        ("clientSecret", "secret"),
        ("API_KEY_PROD", "token"),
        ("x-api-key", "token"),
        ("GITHUB_TOKEN", "token"),
        ("auth", "login"),
        ("seed_phrase", "phrase"),
        ("password_length", None),
        ("max_tokens", None),
        ("next_token", None),
        ("secretName", None),
        ("bypass", None),
        ("public_key", None),
        ("keyboard", None),
        ("", None),
    ],
)
def test_the_end_of_a_name_decides(name: str, expected: str | None) -> None:
    assert sound(name) == expected


def test_a_name_is_cut_into_words_however_it_is_spelled() -> None:
    assert words("APIKeyProd") == words("api_key-prod") == ["api", "key", "prod"]
