"""Requests of every kind against three policies, through ``policy check``: none is decided by chance.

Each line of the table is a group with the policy it is tried on, and whether that allows the group. A request is
a command line, a list of words, a JSON object, or ``{"raw": …}`` for a line that is no valid request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from dragoman.client.policy_check import PolicyCheck

_DATA = Path(__file__).parents[3] / "data" / "policy"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    own, out = tmp_path / "ws", tmp_path / "out"
    (own / "src" / "deep").mkdir(parents=True)
    out.mkdir()
    (own / "link").symlink_to(out)
    (own / "src" / "link").symlink_to(out)
    (own / "src" / "outdir").symlink_to(out)
    (own / "src" / "outlink").symlink_to("/etc/passwd")
    return own


def _line(request: Any) -> str:
    if isinstance(request, dict) and "raw" in request:
        return str(cast("dict[str, Any]", request)["raw"])
    return json.dumps(request if isinstance(request, dict) else {"command": request})


def _wrong(group: dict[str, Any], workspace: Path) -> Iterator[str]:
    check = PolicyCheck(_DATA / f"{group['rules']}.toml", workspace)
    for request in group["requests"]:
        found = check.line(_line(request))
        if (found.decision == "allow") is not group["allowed"]:
            yield f"{group['rules']}: {_line(request)}: {found.decision}: {found.why}"


def test_every_request_is_decided_as_the_table_says(workspace: Path) -> None:
    lines = (_DATA / "attempts.jsonl").read_text(encoding="utf-8").splitlines()
    groups = [json.loads(line) for line in lines]

    assert sum(len(group["requests"]) for group in groups) > 5000
    assert [wrong for group in groups for wrong in _wrong(group, workspace)] == []
