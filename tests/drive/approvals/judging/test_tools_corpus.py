"""Everyday tools against whole policies: thousands of lines, each decided once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.drive.approvals.policy_file import read_policy
from dragoman.model.messages import ApprovalRequested

_ROOT = Path(__file__).parents[4]
_DATA = _ROOT / "tests" / "data" / "policy"


def _allowed(policy: Path, corpus: str) -> dict[str, bool]:
    rules = read_policy(policy, resolve=None)
    text = (_DATA / corpus).read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line and not line.startswith("# ")]
    return {line: rules.explain(_request(line)).decision.startswith("allow") for line in lines}


def _request(line: str) -> ApprovalRequested:
    detail = {"workspace": "/ws"}
    return ApprovalRequested(approval_id="a", kind="command", command=line, detail=detail)


@pytest.mark.parametrize(
    ("policy", "corpus"),
    [
        (_DATA / "tools.toml", "tools-bypasses.txt"),
        (_DATA / "options.toml", "options-bypasses.txt"),
        (_DATA / "guard.toml", "guard-bypasses.txt"),
        (_ROOT / "examples" / "policy.toml", "example-bypasses-2.txt"),
        (_ROOT / "examples" / "policy.toml", "tools-bypasses.txt"),
        (_ROOT / "examples" / "policy.toml", "guard-bypasses.txt"),
    ],
)
def test_no_bypass_is_allowed(policy: Path, corpus: str) -> None:
    decided = _allowed(policy, corpus)

    assert len(decided) > 20
    assert [line for line, is_allowed in decided.items() if is_allowed] == []


def test_everyday_commands_of_allowed_programs_are_allowed() -> None:
    decided = _allowed(_DATA / "tools.toml", "tools-benign.txt")

    assert len(decided) > 500
    assert [line for line, is_allowed in decided.items() if not is_allowed] == []
