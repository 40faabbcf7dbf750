"""Words that try to be more than words, and what a page must not hold after it has shown them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Compacted,
    Context,
    Diff,
    Malformed,
    Message,
    Notice,
    Plan,
    PlanStep,
    Prompt,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnError,
    TurnStarted,
    Unknown,
)

PWN = "window.pwned=1"
WORDS = [
    f"<script>{PWN}</script>",
    f"<img src=x onerror={PWN}>",
    f'<svg onload="{PWN}"><script>{PWN}</script></svg>',
    f"[click](javascript:{PWN})",
    f"[click](JaVaScRiPt:{PWN})",
    f"[click](java\tscript:{PWN})",
    f"[click](&#106;avascript:{PWN})",
    f"<javascript:{PWN}>",
    "[d](data:text/html,<script>alert(1)</script>) ![d](data:text/html;base64,PHNjcmlwdD4=)",
    "![beacon](http://127.0.0.1:9/beacon.png) [v](vbscript:x) [f](file:///etc/passwd)",
    f'[a](https://e.org/"onmouseover="{PWN}) [b](https://e.org "\'onclick={PWN}")',
    f"[x]: javascript:{PWN}\n\n[x]",
    '<iframe src="http://127.0.0.1:9/"></iframe><object data="x"></object><embed src="x">',
    '<style>@import "http://127.0.0.1:9/x.css";</style><link rel=stylesheet href=//127.0.0.1:9/>',
    '<base href="http://127.0.0.1:9/"><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">',
    '<form action="http://127.0.0.1:9/"><button autofocus onfocus=x>go</button></form>',
    "</pre></code></div></section></main></body></html><script>" + PWN + "</script>",
    f"```html\n</code></pre><script>{PWN}</script>\n```",
    f"`</code><script>{PWN}</script>`",
    f"| a |\n|---|\n| <script>{PWN}</script> |",
    f'"><script>{PWN}</script>',
    f"' onmouseover='{PWN}",
    f"--><script>{PWN}</script><!--",
    f"]]><script>{PWN}</script>",
    f"</title><script>{PWN}</script>",
    f"</style><script>{PWN}</script>",
    f"\x1b]8;;javascript:{PWN}\x07link\x1b]8;;\x07 \x1b[31m<b>red\x1b[0m \x1b[2J\x1b[999;999H",
    "\u202egnp.exe \u2066x\u2069 \u202d",
    "null \x00 byte, bell \x07, backspace \x08, delete \x7f, next line \x85",
    "\u2028line\u2029paragraph",
    "<" * 3000,
    "[" * 3000,
    "> " * 500 + "deep",
    "*a **b " * 500,
    "x" * 1_000_000,
    "&lt;script&gt; &amp;#60; &#x3c;script>",
    f"<ScRiPt\n>{PWN}</sCrIpT\n>",
    f"<a href='x' style='background:url(http://127.0.0.1:9/)' onclick={PWN}>a</a>",
]


def messages() -> list[Message]:
    """Every kind of message, each with every hostile text in each of its places."""
    said: list[Message] = [
        SessionStarted(harness=WORDS[0], version=WORDS[1], model=WORDS[20], cwd=WORDS[24], line=1)
    ]
    for number, words in enumerate(WORDS):
        line, call = 10 * number + 10, f"c{number}{words[:50]}"
        image = "data:image/png;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj4="
        said += [
            TurnStarted(line=line),
            Prompt(text=words, images=[words[:5000], image, f"data:{words[:500]},x"], line=line),
            Context(role=words[:500], text=words),
            Text(text=words),
            Thinking(text=words),
            Thinking(text=f"**{words[:500]}**\n\nmore"),
            ToolCall(call_id=call, tool="Bash", native_tool="x", input={"command": words}),
            ToolResult(call_id=call, output=words, is_error=True, exit_code=1, status="failed"),
            ToolCall(call_id=call, tool=words[:900], native_tool="x", input={words[:900]: words}),
            ToolResult(call_id=call, output=words),
            ToolCall(
                call_id=call,
                tool="Edit",
                native_tool="x",
                input={"changes": [{"path": words[:900], "kind": words[:99], "diff": words}]},
            ),
            ToolResult(call_id=call, output=words),
            ToolCall(call_id=call, tool=f"mcp__{words[:99]}__{words[:99]}", native_tool="x"),
            ToolCall(call_id=call, tool="Task", native_tool="x", input={"prompt": words}),
            ToolResult(call_id="never called", output=words),
            Plan(steps=[PlanStep(words, "completed")], explanation=words),
            Diff(unified=f"diff --git a/{words[:99]} b/{words[:99]}\n@@ -1 +1 @@\n-{words}\n+x\n"),
            ApprovalRequested(
                approval_id=call,
                kind="command",
                summary=words,
                detail={words[:900]: words},
                choices=[words[:900]],
            ),
            ApprovalSettled(approval_id=call, decision=words[:900]),
            ApprovalSettled(approval_id="never asked" + words[:99], decision=words[:900]),
            Notice(level="error", text=words),
            Compacted(summary=words),
            Unknown(native_type=words[:900], raw=words),
            Malformed(raw=words, problem=words[:900]),
            TurnEnded(outcome="failed", error=TurnError("x", words, retryable=False)),
        ]
    return said


_VOID = frozenset({"meta", "img", "br", "hr"})
_TAGS = re.compile(
    "html|head|meta|title|style|body|a|div|header|h1|h2|h3|h4|h5|h6|dl|dt|dd|main|section|article"
    "|span|p|pre|code|details|summary|footer|time|ol|ul|li|aside|nav|em|strong|s|blockquote|table"
    "|thead|tbody|tr|th|td|br|hr|img"
)
_ATTRIBUTES = re.compile(
    "class|id|href|rel|title|open|datetime|src|alt|loading|charset|http-equiv|content|name|lang|start"
    "|aria-label|aria-hidden|data-o|data-n"
)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Inspector(HTMLParser):
    """Reads a page and complains of whatever is not ours."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.texts: list[str] = []
        self.styles = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert _TAGS.fullmatch(tag), tag
        for name, value in attrs:
            assert _ATTRIBUTES.fullmatch(name), (tag, name, value)
            assert not _UNSEEN.search(value or ""), (tag, name)
            if name == "href":
                assert (value or "").startswith(("#", "http://", "https://", "mailto:")), value
                if not (value or "").startswith("#"):
                    assert ("rel", "noopener noreferrer nofollow") in attrs
                else:
                    self.links.add((value or "")[1:])
            if name == "src":
                assert tag == "img", tag
                assert re.match(r"data:image/(png|jpeg|gif|webp);base64,", value or ""), value
            if name == "id":
                assert value, tag
                assert value not in self.ids, value
                self.ids.add(value)
        self.styles += tag == "style"
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, tag
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        assert not _UNSEEN.search(data), repr(data[:80])
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def inspect(page: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(page)
    inspector.close()
    assert inspector.open == []
    assert inspector.styles == 1
    assert inspector.links <= inspector.ids, inspector.links - inspector.ids
    return inspector
