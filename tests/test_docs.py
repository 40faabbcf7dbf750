"""The documents say what is true."""

from __future__ import annotations

import re
import shlex
from itertools import groupby
from pathlib import Path

import click
import pytest

import dragoman
from dragoman.cli.main import dragoman as program
from dragoman.export import FORMATS
from dragoman.harnesses import HARNESSES, dialects
from dragoman.harnesses.contract.reading import Limit
from dragoman.model.messages import MESSAGE_TYPES

_NUMBERS = {
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "eleven",
    12: "twelve",
    13: "thirteen",
    14: "fourteen",
    15: "fifteen",
    16: "sixteen",
    17: "seventeen",
    18: "eighteen",
    19: "nineteen",
    20: "twenty",
    21: "twenty-one",
    22: "twenty-two",
    23: "twenty-three",
    24: "twenty-four",
    25: "twenty-five",
    26: "twenty-six",
}
_ROOT = Path(__file__).parents[1]
_PAGES = sorted([*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md"), *_ROOT.glob("src/**/*.md")])
_LIMITS_HEAD = """\
# Limits of each dialect

A live stream and the session file of the same run yield the same conversation, except for the content
listed here. This table is generated from the `limits.py` of each harness, which the tests use to compare the
two; each row is needed by at least one recording in `tests/data`.

| dialect | releases | missing | because |
|---|---|---|---|
"""


def _limits_page() -> str:
    def place(limit: Limit) -> tuple[str, str, str]:
        return limit.releases, limit.what, limit.why

    rows: list[str] = []
    limits = [limit for harness in HARNESSES for limit in harness.limits]
    for (releases, what, why), group in groupby(limits, place):
        names = ", ".join(f"`{limit.dialect}`" for limit in group)
        rows.append(f"| {names} | {releases} | {what} | {why} |\n")
    return _LIMITS_HEAD + "".join(rows)


def test_the_table_of_limits_is_the_one_that_the_comparison_reads(
    request: pytest.FixtureRequest,
) -> None:
    page = _ROOT / "docs" / "limits.md"
    if request.config.getoption("--update-golden"):
        page.write_text(_limits_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == _limits_page()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_files_that_pages_name_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(
        r"`((?:archive|cli|client|drive|export|harnesses|html|hub|model|reading|rehearsal|rendering|replay|store|testing|web|wire)/[\w/.]+)`",
        text,
    ):
        assert (_ROOT / "src" / "dragoman" / name).exists(), name


def test_every_message_type_is_described() -> None:
    text = (_ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    for name, kind in MESSAGE_TYPES.items():
        row = next(line for line in text.split("\n") if line.startswith(f"| `{name}` |"))
        assert f"`{kind.__name__}`" in row
        own = [
            field
            for field in kind.__struct_fields__
            if field not in dragoman.TurnStarted.__struct_fields__
        ]
        for field in own:
            assert f"`{field}`" in row, (name, field)
    assert f"{len(MESSAGE_TYPES)} kinds" in text


def test_every_format_and_dialect_is_described() -> None:
    formats = (_ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for each in FORMATS:
        assert f"| `{each.name}` |" in formats
    readme = " ".join((_ROOT / "README.md").read_text(encoding="utf-8").split())
    words = f"{_NUMBERS[len(dialects())]} wire dialects in, {_NUMBERS[len(FORMATS)]} formats out"
    assert words in readme


def test_the_commands_in_the_readme_exist() -> None:
    """Each command line is parsed by the program itself."""
    text = (_ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:codex .* \| )?dragoman ([^\n#]*)", text, re.MULTILINE)
    assert len(lines) >= 10
    for line in lines:
        name, *words = shlex.split(line)
        command = program.get_command(click.Context(program), name)
        assert command is not None, line
        command.make_context(name, words)


def test_the_scene_in_the_readme_is_from_the_demo() -> None:
    data = _ROOT / "src" / "dragoman" / "cli" / "demo_data"
    played = "".join(path.read_text(encoding="utf-8") for path in data.rglob("*") if path.is_file())
    text = (_ROOT / "README.md").read_text(encoding="utf-8")
    block = next(
        part for part in text.split("```") if part.startswith("\n\u203a Fix the failing test")
    )
    told = re.findall(r"^(?:∴|\$|☑|  \│ 2 [-+]|  (?=One)) *(.+)$", block, re.MULTILINE)
    assert len(told) == 8
    for words in told:
        assert words in played, words
