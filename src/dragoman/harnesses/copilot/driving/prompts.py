"""A prompt and a session's settings as parameters of the server's methods."""

from __future__ import annotations

from typing import Any

from dragoman.errors import Unsupported
from dragoman.model import intents


def prompt_params(session_id: str, text: str, images: list[str], **more: Any) -> dict[str, Any]:
    """The parameters of ``session.send``. Raises :class:`Unsupported` for images by address."""
    params: dict[str, Any] = {"sessionId": session_id, "prompt": text, **more}
    if images:
        params["attachments"] = [_attachment(each) for each in images]
    return params


def _attachment(image: str) -> dict[str, Any]:
    if image.startswith(("http:", "https:")):
        raise Unsupported("images by their address with Copilot")
    if image.startswith("data:"):
        kind, _, data = image.removeprefix("data:").partition(";base64,")
        return {"type": "blob", "mimeType": kind, "data": data, "displayName": "image"}
    return {"type": "file", "path": image, "displayName": image.replace("\\", "/").split("/")[-1]}


def session_params(intent: intents.OpenSession) -> dict[str, Any]:
    """What ``session.create`` and ``session.resume`` have in common."""
    params: dict[str, Any] = {
        "clientName": "dragoman",
        "workingDirectory": intent.cwd,
        "streaming": True,
        "includeSubAgentStreamingEvents": True,
        "requestPermission": True,
        "requestUserInput": True,
        "requestElicitation": True,
        "requestExitPlanMode": True,
        "envValueMode": "direct",
        **intent.config,
    }
    effort = params.pop("effort", None)
    if effort is not None:
        params["reasoningEffort"] = effort
    if intent.model is not None:
        params["model"] = intent.model
    if intent.instructions is not None:
        params["systemMessage"] = {"mode": "append", "content": intent.instructions}
    if intent.tools:
        params["tools"] = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "skipPermission": True,
            }
            for tool in intent.tools
        ]
    return params
