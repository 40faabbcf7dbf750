"""Reading rows of opencode's database, each as a line: ``{"opencode": TABLE, "row": {…}}``.

Rows stand in the order of the conversation: the session, then each message followed by its parts. A row that has
changed since it was copied follows again, whole.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.opencode.reading.sessions import OpencodeParser
from dragoman.harnesses.opencode.tools import plan_in
from dragoman.wire import jsonl
from dragoman.wire.loose import as_dict, as_list, as_str


class _StoredRow(msgspec.Struct, gc=False):
    opencode: str
    row: dict[str, Any]


_decode: Final = msgspec.json.Decoder(_StoredRow).decode


class StoreParser(OpencodeParser):
    """The rows of one session, or of several."""

    def _read_own(self, line: bytes, *, sent: bool | None) -> None:
        entry = _decode(line)
        row = entry.row
        if entry.opencode == "session":
            self._session(row)
            return
        session = self.session(as_str(row.get("session_id")))
        data = {**as_dict(_value(row.get("data")))}
        data["id"] = row.get("id")
        self.set_time(row.get("time_created"))
        if entry.opencode == "message":
            session.message(data)
        elif entry.opencode == "part":
            data["messageID"] = row.get("message_id")
            self.set_time(as_dict(data.get("time")).get("end") or row.get("time_created"))
            if not self.report_part(session, data):
                self._unknown(line, as_str(data.get("type")) or "part")
        elif entry.opencode == "todo":
            self._todos(row)
        else:
            self._unknown(line, entry.opencode)

    def _session(self, row: dict[str, Any]) -> None:
        self.set_time(row.get("time_created"))
        session = self.session(as_str(row.get("id")))
        is_new = session.assembler.facts is None
        self.session_info(
            {
                "id": row.get("id"),
                "version": row.get("version"),
                "model": _value(row.get("model")),
                "directory": row.get("directory"),
                "parentID": row.get("parent_id"),
            }
        )
        title = as_str(row.get("title"))
        if title and is_new:
            session.assembler.notice("session", "info", f"title: {title}")

    def _todos(self, row: dict[str, Any]) -> None:
        """The list as it stands; as a rule a call of the model set it."""
        session = self.session(as_str(row.get("session_id")))
        session.assembler.duplicate("state: todo")
        plan = plan_in(as_list(_value(row.get("todos"))))
        if session.assembler.latest.plan is None and plan:
            session.assembler.plan(plan)


def _value(value: Any) -> Any:
    """A column that holds JSON, decoded or not."""
    if not isinstance(value, str):
        return value
    try:
        return jsonl.loads(value.encode(errors="replace"))
    except jsonl.NotJson:
        return None
