"""The one shape of a JSON-RPC line, decoded once; what is inside is read loosely."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec

RequestName: TypeAlias = int | str | None


class AcpLine(msgspec.Struct, frozen=True, gc=False):
    """A request, a notification or a response."""

    id: Any = msgspec.UNSET
    method: Any = None
    params: Any = None
    result: Any = msgspec.UNSET
    error: Any = None
    jsonrpc: Any = None

    @property
    def name(self) -> RequestName:
        """The id by which a request and its response belong together."""
        is_id = isinstance(self.id, int | str) and not isinstance(self.id, bool)
        return self.id if is_id else None

    @property
    def is_response(self) -> bool:
        return self.method is None and (self.result is not msgspec.UNSET or self.error is not None)


decode_line: Final = msgspec.json.Decoder(AcpLine).decode
