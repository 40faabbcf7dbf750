"""Lines of Codex's rules: those that it writes are read, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.home.remembered_rules import read_rule
from dragoman.harnesses.contract.program import Remembered


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (
            'prefix_rule(pattern=["git", "push"], decision="allow")',
            Remembered(decision="allow", prefix=("git", "push")),
        ),
        (
            'prefix_rule(pattern=["git", ["pull", "fetch"]], decision="prompt")',
            Remembered(decision="prompt", prefix=("git", "pull|fetch")),
        ),
        ('prefix_rule(pattern=["ls"])', Remembered(decision="allow", prefix=("ls",))),
        (
            'network_rule(host="a.b", protocol="https", decision="allow", justification="x")',
            Remembered(decision="allow", host="a.b"),
        ),
        ("", None),
        ("# prefix_rule(pattern=[])", None),
        ("prefix_rule(", None),
        ("prefix_rule(pattern=[])", None),
        ("prefix_rule(pattern=open('/etc/passwd'))", None),
        ('prefix_rule(["ls"])', None),
        ('prefix_rule(pattern=["ls"]); x()', None),
        ("network_rule(host=3)", None),
        ("prefix_rule(" + "(" * 5000, None),
    ],
)
def test_a_line_is_a_rule_or_not(line: str, rule: Remembered | None) -> None:
    assert read_rule(line) == rule


@given(inside=st.text(max_size=40))
def test_no_line_raises(inside: str) -> None:
    read_rule(f"prefix_rule({inside})")
    read_rule(f"network_rule({inside}")
