"""The values on a line that some message has to hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dragoman.harnesses.assembly.omissions import Omission, Omissions
from dragoman.harnesses.contract.reading import Value
from dragoman.harnesses.copilot.tools import EXIT
from dragoman.wire.envelope import object_on
from dragoman.wire.loose import as_dict, as_str

_UNSAID: Final = (
    "state: ",
    "request: ",
    "answer: ",
    "journal: ",
    "approval: a hook answers it",
    "context: unchanged",
    "blank line",
)

OMISSIONS: Final = (
    Omission(
        "what an event says about itself, and the names by which events refer to one another",
        ("*.id", "*.parentId", "*.timestamp", "*.type", "*.agentId", "**.messageId", "**.turnId",
         "**.originatingMessageId", "**.interactionId", "**.requestId", "**.rte", "**.apiCallId",
         "**.parentAgentTaskId", "**.providerId", "**.serviceRequestId", "**.clientRequestId",
         "**.providerCallId", "**.toolCallId", "**.parentToolCallId", "**.reasoningId", "**.chunk*",
         "**.sequence", "**.stream", "**.sessionId"),
    ),
    Omission(
        "how the program showed a call, or classified it",
        ("**.intentionSummary", "**.toolTitle", "**.toolTelemetry.**", "**.shellToolInfo.**",
         "**.toolRequests[].type", "**.mcp*", "**.toolDescription.**", "**.model",
         "**.shellExecution.**", "**.fileEdits[].**", "**.detailedContent", "**.contents[].**"),
    ),
    Omission(
        "the same thought in the service's own form, with its signature",
        ("**.reasoningOpaque", "**.reasoningBlocks.**", "**.encryptedContent", "**.serverTools.**",
         "**.reasoningWireField", "**.responsesReasoning.**", "**.phase", "**.outputTokens"),
    ),
    Omission(
        "how a prompt was handed on",
        ("**.transformedContent", "**.delivery", "**.source", "**.agentMode",
         "**.supportedNativeDocumentMimeTypes[]", "**.attachments[].**"),
    ),
    Omission(
        "how a response was served, besides the tokens that are reported",
        ("assistant/usage.data.**", "session/idle.data.mode", "session/usage_record.data.**"),
    ),
    Omission(
        "what the process took in all; each response was counted before",
        ("result.usage.**", "result.exitCode", "session/resume.**", "session/start.**"),
    ),
    Omission(
        "how a request that failed was sent; the notice has what came back",
        ("model/call_failure.data.**", "assistant/turn_retry.data.reason", "session/info.data.infoType"),
    ),
    Omission(
        "what was announced and what was granted; the approval and its decision say it",
        ("permission/requested.data.promptRequest.**", "permission/requested.data.permissionMode",
         "permission/requested.data.ownerSessionId",
         "permission/requested.data.permissionRequest.command*[].**",
         "permission/requested.data.permissionRequest.shellType",
         "permission/completed.data.result.kind", "session/permissions_changed.data.**"),
    ),
    Omission(
        "the parts that a text was made from; the text is emitted",
        ("system/message.data.metadata.**", "system/message.data.contentBlocks[].**",
         "system/notification.data.kind.**", "tool/execution_complete.data.error.code"),
    ),
    Omission(
        "what the process counted when it ended",
        ("session/shutdown.data.shutdownType", "session/shutdown.data.sessionStartTime",
         "session/shutdown.data.eventsFileSizeBytes", "session/shutdown.data.*Tokens",
         "session/shutdown.data.codeChanges.**", "session/shutdown.data.modelMetrics.**",
         "session/shutdown.data.total*", "session/shutdown.data.currentModel",
         "session/shutdown.data.tokenDetails.**"),
    ),
    Omission(
        "the sub-agent's own messages say it",
        ("subagent/*.data.**",),
    ),
)  # fmt: skip

_OMISSIONS: Final = Omissions(OMISSIONS)


def values(line: bytes, rule: str = "") -> Iterator[Value]:
    """The values on this line, each with its place; ``rule`` says why the line has made no message."""
    if rule.startswith(_UNSAID):
        return
    event = _event(line)
    name = (as_str(event.get("type")) or "line").replace(".", "/")
    for key, value in event.items():
        yield from _OMISSIONS.values(f"{name}.{key}", value, _shorter)


def _event(line: bytes) -> dict[str, Any]:
    given = object_on(line)
    return as_dict(as_dict(given.get("params")).get("event")) or given


def _shorter(value: Any) -> list[list[Any]]:
    return [[EXIT.sub("", value)]] if isinstance(value, str) else []
