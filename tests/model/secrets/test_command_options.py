"""Options and operands of known programs."""

from __future__ import annotations

import pytest

from dragoman.export.redact import Redactor


@pytest.mark.parametrize(
    "line",
    [
        "rabbitmqctl add_user ada {}",
        "twine upload -u ada -p {} dist/x",
        "dotnet user-secrets set Db:Password {}",
        "pulumi config set --secret dbPassword {}",
        r"net use z: \\h\x {} /user:ada",
        "vncpasswd -f <<< {}",
    ],
)
def test_the_password_of_a_known_program_is_hidden(line: str) -> None:
    shown = Redactor().text(line.format("walruspebble"))

    assert "walruspebble" not in shown
    assert shown.startswith(line.partition(" ")[0])


def test_an_option_of_another_program_is_left_alone() -> None:
    line = "mkdir -p walruspebble && net use z: \\\\h\\x /user:ada"

    assert Redactor().text(line) == line
