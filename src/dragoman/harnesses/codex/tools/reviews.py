"""A review's findings as text, the way Codex itself writes them down."""

from __future__ import annotations

from typing import Any

from dragoman.harnesses.codex.values.loose import as_dict, as_list, as_str


def review_text(output: Any) -> str:
    """The overall verdict, then one paragraph for each finding with its place."""
    review = as_dict(output)
    parts = [as_str(review.get("overall_explanation")) or ""]
    findings = [as_dict(finding) for finding in as_list(review.get("findings"))]
    if findings:
        parts.append("Review comment:" if len(findings) == 1 else "Full review comments:")
        parts.extend(_finding(finding) for finding in findings)
    return "\n\n".join(part for part in parts if part)


def _finding(finding: dict[str, Any]) -> str:
    location = as_dict(finding.get("code_location"))
    lines = as_dict(location.get("line_range"))
    path = as_str(location.get("absolute_file_path")) or ""
    place = f" — {path}:{lines.get('start')}-{lines.get('end')}" if path else ""
    body = "\n".join(f"  {line}" for line in (as_str(finding.get("body")) or "").split("\n"))
    return f"- {as_str(finding.get('title')) or ''}{place}\n{body}"
