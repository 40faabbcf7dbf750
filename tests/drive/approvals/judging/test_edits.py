from __future__ import annotations

from typing import Any

import pytest

from dragoman.drive.approvals.rules import Rules, rule
from dragoman.model.messages import ApprovalRequested


def _said(rules: Rules, *paths: str, **detail: Any) -> str:
    changes = [{"path": path, "kind": "update"} for path in paths]
    detail = {"changes": changes, "workspace": "/w", "cwd": "/w", **detail}
    return rules.explain(ApprovalRequested(approval_id="a", kind="edit", detail=detail)).decision


@pytest.mark.parametrize(
    "path", ["~/.env", "/home/u/.env", "../other/.env", ".ENV", "a\\.env", "x/../.env"]
)
def test_a_glob_that_forbids_matches_everywhere(path: str) -> None:
    for glob in ("**/.env", ".env"):
        assert _said(Rules([rule("deny", path=glob)], default="allow"), path) == "deny"


def test_a_glob_that_allows_matches_inside_only() -> None:
    rules = Rules([rule("allow", path="**")])

    assert _said(rules, "a") == "allow"
    for path in ("~/a", "/home/a", "../a", "a\ue000"):
        assert _said(rules, path) == "ask"


def test_more_than_an_edit_is_never_allowed_by_a_rule() -> None:
    rules = Rules([rule("deny", path="/etc/**"), rule("allow", kind="edit")], default="allow")

    assert _said(rules, "a") == "allow"
    assert _said(rules, "a", grant_root="/w") == "ask"
    assert _said(rules, grant_root="/w") == "ask"
    assert _said(rules, "a", grant_root="/etc") == "deny"


def test_text_never_allows_an_edit() -> None:
    assert _said(Rules([rule("allow", text="")]), "a") == "ask"


@pytest.mark.parametrize("path", [".git/config", "sub/.git/hooks/pre-commit", ".GIT/config"])
def test_an_allow_rule_must_name_the_repository_to_cover_it(path: str) -> None:
    assert _said(Rules([rule("allow", path="**")]), path) == "ask"
    assert _said(Rules([rule("allow", path=["**", "**/.git/**", "**/.GIT/**"])]), path) == "allow"
    assert _said(Rules([rule("allow", kind="edit")]), path) == "allow"
    assert _said(Rules([rule("allow", path="**")]), ".gitignore") == "allow"
