"""The guide says what is true."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from dragoman.rehearsal import Faults, parse_script
from dragoman.rehearsal.reading import KINDS
from dragoman.testing import plugin

_GUIDE = (Path(__file__).parents[2] / "docs" / "rehearsal.md").read_text(encoding="utf-8")


def test_every_script_in_the_guide_can_be_played() -> None:
    scripts = re.findall(r"```yaml\n(.*?)```", _GUIDE, re.DOTALL)

    assert len(scripts) >= 3
    for script in scripts:
        assert parse_script(script).turns


def test_every_short_form_in_the_guide_is_one() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)`", _GUIDE, re.MULTILINE)
    shown = [
        (kind, short) for kind, short in rows if kind in KINDS and not short.startswith("stage")
    ]

    assert len(shown) > 12
    for kind, short in shown:
        step = parse_script(f"- {short}" if ": " in short else f"- {kind}").turns[0].steps[0]
        assert isinstance(step, KINDS[kind][0])


def test_every_step_and_option_is_described() -> None:
    for kind, (struct, _) in KINDS.items():
        rows = [line for line in _GUIDE.split("\n") if line.startswith(f"| `{kind}` |")]
        assert rows, kind
        for field in msgspec.structs.fields(struct):
            named = f"`{field.encode_name}`" in rows[0] or f"{kind}: " in rows[0]
            assert named or field.name == "times" or kind == "overflow", (kind, field.name)


def test_every_fault_of_the_fake_program_is_described() -> None:
    for field in msgspec.structs.fields(Faults):
        assert f"`{field.name}`" in _GUIDE, field.name


def test_every_fixture_is_described() -> None:
    for name in ("rehearsal", "fake_codex", "codex_home", "codex_program", "claude_program"):
        assert hasattr(plugin, name)
        assert f"| `{name}` |" in _GUIDE
