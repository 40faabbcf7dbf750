from __future__ import annotations

import pytest

from dragoman.model.secrets.assigning import assigned, is_named_secret, lowered
from dragoman.model.secrets.finding import find_secrets

PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEAx1" * 3
    + "\n-----END RSA PRIVATE KEY-----"
)


def found(text: str) -> list[str]:
    return [text[each.begin : each.end] for each in find_secrets(text)]


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-a1B2c3D4e5F6g7H8i9J0",
        "sk_live_51H8xQ2eZvKYlo2C0000",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0123456789_abcdefghijkl",
        "glpat-ABCDEFGHIJ1234567890",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "xoxb-123456789012-abcdefGHIJKL",
        "AKIAIOSFODNN7ABCDEFG",
        "AIzaSyA-1234567890abcdefghijklmnopqrstu",
        "ya29.a0AfH6SMBx-1234567890abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        PEM,
        PEM.replace("\n", "\\n"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "x {} y", "\\n{}", '"{}"', "\n-{}", "+{}\n"])
def test_a_key_is_known_by_its_shape(secret: str, around: str) -> None:
    assert found(around.format(secret)) == [secret]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def-123456789012", "abc.def-123456789012"),
        ("https://ada:s3cret!@host/x", "s3cret!"),
        ("postgres://u:pa55word@db:5432/x", "pa55word"),
        ("curl -u ada:s3cret host", "s3cret"),
    ],
)
def test_a_password_is_known_by_where_it_stands(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-is-a-library-for-everyone",
        "task-runner-configuration-2024",
        "the bearer of this letter",
        "https://host:8080/path@x",
        "docker run -u 1000:1000",
        "git@github.com:a/b.git",
        "0123456789abcdef0123456789abcdef01234567",
        'BEGIN = "-----BEGIN PRIVATE KEY-----"',
    ],
)
def test_ordinary_text_is_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ('password = "hunter22"', ["hunter22"]),
        ("DB_PASSWORD=s3cr3tPa55", ["s3cr3tPa55"]),
        ('{"api_key": "Zx81kQ72mN4pL0"}', ["Zx81kQ72mN4pL0"]),
        ('{\\"token\\":\\"Zx81kQ72mN4pL0\\"}', ["Zx81kQ72mN4pL0"]),
        ("tool --api-token Zx81kQ72mN4pL0 go", ["Zx81kQ72mN4pL0"]),
        ("\u0130 SECRET_KEY: Zx81kQ72mN4pL0", ["Zx81kQ72mN4pL0"]),
        ("secret_key: sunflower-river", ["sunflower-river"]),
        ("secret_key: correcthorse", ["correcthorse"]),
        ("secret_key = settings.SECRET_KEY", []),
        ("secret_key: str", []),
        ("token = get_token()", []),
        ("password: str", []),
        ("password = os.environ['PASSWORD']", []),
        ("max_tokens = 4096, input_tokens: 123456789012", []),
        ("secret = settings.secret_key2.value1", []),
        ('password = "your-password"', []),
        ("TOKEN=${GITHUB_TOKEN}", []),
        ('"token": "[secret-1]"', []),
        ("the token Zx81kQ72mN4pL0 was sent", []),
    ],
)
def test_what_a_secret_name_is_given(text: str, secrets: list[str]) -> None:
    assert sorted({text[begin:end] for begin, end in assigned(text, lowered(text))}) == secrets


def test_a_field_can_be_known_by_its_name() -> None:
    assert is_named_secret("OPENAI_API_KEY", "Zx81kQ72mN4pL0")
    assert not is_named_secret("key_bindings", "Zx81kQ72mN4pL0")


@pytest.mark.parametrize("sign", ["-", "_", "."])
def test_a_line_of_signs_at_the_end_is_none(sign: str) -> None:
    assert find_secrets(f"Title\n{sign * 40}") == []
