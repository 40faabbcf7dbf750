"""What commands use of click is what click has, only later."""

from __future__ import annotations

import click
import pytest

from dragoman.cli import lazy_click


@pytest.mark.parametrize(
    "text", ["plain", "ünï → 設定", "", "\x1b[1mbold\x1b[0m", b"bytes", None, 7]
)
def test_lines_are_printed_as_click_prints_them(
    text: object, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    lazy_click.echo(text)
    lazy_click.echo(text, nl=False, err=True)
    ours = capfdbinary.readouterr()
    click.echo(text)
    click.echo(text, nl=False, err=True)

    assert ours == capfdbinary.readouterr()


def test_everything_else_is_clicks_own() -> None:
    assert lazy_click.UsageError is click.UsageError
    assert lazy_click.style is click.style
    with pytest.raises(AttributeError):
        getattr(lazy_click, "no_such_thing")  # noqa: B009
