"""A prompt as the server takes it."""

from __future__ import annotations

from typing import Any

from dragoman.errors import UsageError


def prompt_parts(text: str, images: list[str]) -> list[dict[str, Any]]:
    """The parts of a prompt. Images are ``data:`` addresses: the engine reads the files."""
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for number, image in enumerate(images, 1):
        kind = image.removeprefix("data:").partition(";")[0] if image.startswith("data:") else ""
        part = {"type": "file", "mime": kind or "image/png", "url": image}
        parts.append({**part, "filename": f"image-{number}"})
    return parts


def model_of(name: str) -> dict[str, str]:
    """A model by its provider and its own name. Raises :class:`UsageError` without a provider."""
    provider, slash, model = name.partition("/")
    if not (slash and provider and model):
        raise UsageError(
            f"opencode names a model with its provider, as in anthropic/claude-sonnet-4-5, not {name!r}"
        )
    return {"providerID": provider, "modelID": model}
