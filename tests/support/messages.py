"""What tests look for among messages."""

from __future__ import annotations

from typing import Any

from dragoman.model.messages import (
    Message,
)


def of(kind: type[Message], messages: list[Message]) -> list[Any]:
    return [message for message in messages if isinstance(message, kind)]
