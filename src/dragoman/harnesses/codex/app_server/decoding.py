"""Decode each JSON-RPC line once, in the form its reader needs.

Nearly all lines of a live connection are notifications: they are decoded straight into the fields that
the parser uses. Requests and answers have more readers (the parser, the completeness check, the client
that answers) with needs that cannot be listed as fields, so they are decoded as plain values, from which
the fields are taken.

Which of the two a line is can only be known for certain by decoding it. The server writes ``id`` first,
or between the method and the parameters; a look at those places decides how to begin. Both ways give the
same for every line, so an unusual order of keys costs a second decoding, and nothing else. The look is
part of :class:`~dragoman.harnesses.codex.app_server.parser.AppServerParser`: a function of its own would
cost every delta a call.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dragoman.harnesses.codex.app_server.shapes import Params, Rpc
from dragoman.harnesses.codex.values.loose import as_dict

ID_FIRST: Final = (b'{"id":', b'{"error":')
ID_SECOND: Final = b'","id":'
METHOD_ENDS: Final = 80
"""Within how many bytes the method of a line ends, as a rule."""
PARAMS: Final = b'"params":'
_RAW: Final = frozenset(("item", "msg"))
"""Parameters that are kept as bytes. Only notifications have them; plain values cannot be bytes again."""

decode_rpc: Final = msgspec.json.Decoder(Rpc).decode
decode_value: Final = msgspec.json.Decoder().decode


def settled_by(params: Params | None) -> dict[str, Any]:
    """What a notification settles, as plain values: a turn, a request or a sign-in."""
    if params is None:
        return {}
    return {
        "threadId": params.thread_id,
        "turn": {"id": params.turn.id} if params.turn is not None else None,
        "requestId": params.request_id,
        "success": params.success,
        "error": params.error,
    }


def decode_with_id(line: bytes) -> tuple[Rpc, dict[str, Any] | None]:
    """Decode a request or an answer, also as plain values; None instead of those if it is neither."""
    whole = as_dict(value := decode_value(line))
    if whole.get("id") is None:
        return decode_rpc(line), None
    params = as_dict(whole.get("params"))
    if not _RAW.isdisjoint(params):
        params = {name: each for name, each in params.items() if name not in _RAW}
        value = {**whole, "params": params}
    return msgspec.convert(value, Rpc), whole
