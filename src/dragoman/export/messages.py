"""Messages as they are, one JSON object per line: the only lossless format.

==============  =================================================
message         line
==============  =================================================
every message   itself, as :mod:`dragoman.model.messages` has it
==============  =================================================

The ``include`` setting of :class:`~dragoman.export.base.Options` has no effect here.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from dragoman.export.base import Options
from dragoman.model.messages import Message

_encoder = msgspec.json.Encoder()


class MessagesExporter:
    wants_lines: bool = False

    def __init__(self, options: Options) -> None:
        del options

    def export(self, messages: Iterable[Message]) -> bytes:
        return _encoder.encode_lines(messages)

    def finish(self) -> bytes:
        return b""
