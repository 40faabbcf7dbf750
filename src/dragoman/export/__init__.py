"""Convert messages to other formats. A format is one module here and one row in the table below.

The module of a format is imported when the format is first used, so listing the names is cheap.
"""

from __future__ import annotations

from dragoman.export.base import Exporter, Format, Options


def _messages(options: Options) -> Exporter:
    from dragoman.export.messages import MessagesExporter

    return MessagesExporter(options)


def _claude(options: Options) -> Exporter:
    from dragoman.export.claude.exporter import ClaudeExporter

    return ClaudeExporter(options)


def _unified(options: Options) -> Exporter:
    from dragoman.export.unified import UnifiedExporter

    return UnifiedExporter(options)


def _ndjson(options: Options) -> Exporter:
    from dragoman.export.ndjson import NdjsonExporter

    return NdjsonExporter(options)


def _orchestrator(options: Options) -> Exporter:
    from dragoman.export.orchestrator import OrchestratorExporter

    return OrchestratorExporter(options)


def _text(options: Options) -> Exporter:
    from dragoman.export.text.exporter import TextExporter

    return TextExporter(options)


def _markdown(options: Options) -> Exporter:
    from dragoman.export.markdown.exporter import MarkdownExporter

    return MarkdownExporter(options)


def _json(options: Options) -> Exporter:
    from dragoman.export.json_array import JsonExporter

    return JsonExporter(options)


def _html(options: Options) -> Exporter:
    from dragoman.export.html.exporter import HtmlExporter

    return HtmlExporter(options)


def _ai_sdk(options: Options) -> Exporter:
    from dragoman.export.ai_sdk import AiSdkExporter

    return AiSdkExporter(options)


def _ag_ui(options: Options) -> Exporter:
    from dragoman.export.ag_ui import AgUiExporter

    return AgUiExporter(options)


FORMATS: tuple[Format, ...] = (
    Format(name="messages", summary="our own messages as JSON lines, lossless", make=_messages),
    Format(name="claude", summary="the lines of Claude Code's stream-json", make=_claude),
    Format(name="unified", summary="role and content blocks, with the source line", make=_unified),
    Format(
        name="ndjson",
        summary="a small chat stream: init, message, tool_use",
        make=_ndjson,
        ends_open_turns=False,
    ),
    Format(name="orchestrator", summary="events for a supervisor of agents", make=_orchestrator),
    Format(name="text", summary="a transcript to read in a terminal", make=_text),
    Format(name="markdown", summary="a transcript to keep, send or publish", make=_markdown),
    Format(name="json", summary="our own messages as one JSON array", make=_json),
    Format(name="html", summary="one page to open or hand on", make=_html, redacts=True),
    Format(name="ai-sdk", summary="the AI SDK's UI message stream, a part a line", make=_ai_sdk),
    Format(name="ag-ui", summary="AG-UI events, one a line", make=_ag_ui),
)
"""Every format, in the order in which help texts list them."""


def find(name: str) -> Format | None:
    """The format with this name, if any."""
    return next((each for each in FORMATS if each.name == name), None)
