"""Where a rollout must lie for Codex to find it, and the settings that it needs to read one."""

from __future__ import annotations

import re
from typing import Final

from dragoman.harnesses.codex.home.history import session_id_in
from dragoman.harnesses.codex.rollout.rows import payload_of, read_row
from dragoman.harnesses.codex.values.loose import as_str
from dragoman.harnesses.codex.values.toml import toml_value

_DAY: Final = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T")
_NO_DAY: Final = ("2026", "01", "01")


def place(name: str, session_id: str | None) -> str:
    """Return ``sessions/YYYY/MM/DD/rollout-TIME-THREAD.jsonl``, below the home."""
    name = name.removesuffix(".zst")
    found = _DAY.match(name)
    year, month, day = found.groups() if found else _NO_DAY
    if session_id is not None and session_id_in(name) != session_id:
        name = f"rollout-{year}-{month}-{day}T00-00-00-{session_id}.jsonl"
    return f"sessions/{year}/{month}/{day}/{name}"


def settings(header: bytes) -> dict[str, str]:
    """Return a ``config.toml`` that defines the session's provider, at an address without a server.

    Codex resumes a session only where its provider is defined; no model is ever asked.
    """
    row = read_row(header)
    name = as_str(payload_of(row).get("model_provider")) if row else None
    lines = ["[analytics]", "enabled = false", "[features]", "plugins = false"]
    if name not in (None, "openai"):
        lines += [f"[model_providers.{toml_value(name)}]", f"name = {toml_value(name)}"]
        lines += ['base_url = "http://127.0.0.1:9/v1"', 'wire_api = "responses"']
    return {"config.toml": "\n".join([*lines, ""])}
