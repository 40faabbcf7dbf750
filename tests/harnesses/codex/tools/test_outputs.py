from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.harnesses.codex.tools.outputs import (
    Cleaned,
    clean,
    clean_mcp,
    content_text,
    finished,
    mcp_result,
)

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text() | st.sampled_from(["type", "text", "content", "output", "success", "Ok"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


# The wrappers of each age.


@pytest.mark.parametrize(
    ("output", "cleaned"),
    [
        pytest.param(
            '{"output":"one\\n","metadata":{"exit_code":0,"duration_seconds":0.3}}',
            Cleaned("one\n", 0, 300),
            id="JSON wrapper, to 0.58",
        ),
        pytest.param(
            '{"output":"before\\ncat: /no/such/file: No such file or directory\\n",'
            '"metadata":{"exit_code":3,"duration_seconds":0.0}}',
            Cleaned("before\ncat: /no/such/file: No such file or directory\n", 3, 0, True),
            id="JSON wrapper, failed",
        ),
        pytest.param(
            '{"output":"Success. Updated the following files:\\nA added.txt\\n",'
            '"metadata":{"exit_code":0,"duration_seconds":0.0}}',
            Cleaned("Success. Updated the following files:\nA added.txt\n", 0, 0),
            id="JSON wrapper of a patch, to 0.125",
        ),
        pytest.param(
            '{"output":"x","metadata":{"exit_code":0,"duration_seconds":1,"new":true}}',
            Cleaned("x", 0, 1000),
            id="JSON wrapper with more metadata",
        ),
        pytest.param(
            "Exit code: 0\nWall time: 2.1 seconds\nOutput:\ntick 1\ntick 2\n",
            Cleaned("tick 1\ntick 2\n", 0, 2100),
            id="exit code header, 0.59 to 0.87",
        ),
        pytest.param(
            "Exit code: 127\nWall time: 0 seconds\nOutput:\n/bin/bash: line 11: no\n",
            Cleaned("/bin/bash: line 11: no\n", 127, 0, True),
            id="exit code header, failed",
        ),
        pytest.param(
            "Exit code: 0\nWall time: 0 seconds\nTotal output lines: 900\nOutput:\nline 00000\n",
            Cleaned("line 00000\n", 0, 0),
            id="exit code header, cut",
        ),
        pytest.param(
            "Exit code: 0\nWall time: 0 seconds\nOutput:\n", Cleaned("", 0, 0), id="no output"
        ),
        pytest.param(
            "Exit code: -1\nWall time: 0 seconds\nOutput:\n",
            Cleaned("", -1, 0, True),
            id="a negative exit code",
        ),
        pytest.param(
            "Chunk ID: 48063f\nWall time: 0.0520 seconds\nProcess exited with code 0\n"
            "Original token count: 2\nOutput:\nmade\n",
            Cleaned("made\n", 0, 52),
            id="chunk header, 0.98 and later",
        ),
        pytest.param(
            "Chunk ID: c5025a\nWall time: 0.0000 seconds\nProcess exited with code 3\n"
            "Original token count: 14\nOutput:\nbefore\n",
            Cleaned("before\n", 3, 0, True),
            id="chunk header, failed",
        ),
        pytest.param(
            "Chunk ID: 77cb76\nWall time: 0.3015 seconds\n"
            "Process running with session ID 96209\nOriginal token count: 0\nOutput:\n",
            Cleaned("", None, 302, running="96209"),
            id="chunk header, still running",
        ),
        pytest.param(
            "Command: /bin/bash -lc 'echo one'\nChunk ID: 427a74\nWall time: 1.3583 seconds\n"
            "Process exited with code 0\nOriginal token count: 1\nOutput:\none\n",
            Cleaned("one\n", 0, 1358),
            id="command header, 0.117",
        ),
        pytest.param(
            "Wall time: 0.4021 seconds\nSleep completed.",
            Cleaned("Sleep completed.", duration_ms=402),
            id="wall time and a sentence",
        ),
        pytest.param(
            "Success. Updated the following files:\nA /workspace/added.txt\n",
            Cleaned("Success. Updated the following files:\nA /workspace/added.txt\n"),
            id="bare text, 0.8",
        ),
        pytest.param("Plan updated", Cleaned("Plan updated"), id="bare text"),
        pytest.param("", Cleaned(""), id="nothing"),
    ],
)
def test_the_wrapping_of_each_age_is_taken_off(output: str, cleaned: Cleaned) -> None:
    assert clean(output) == cleaned


def test_what_the_command_printed_is_not_read_as_a_second_header() -> None:
    printed = "Exit code: 9\nWall time: 9 seconds\nOutput:\nx"

    assert clean(f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{printed}") == Cleaned(
        printed, 0, 0
    )


def test_a_long_output_is_kept_whole() -> None:
    printed = "line xxxxxxxxxxxxxxxxxxxxxxxxxxx\nOutput:\n" * 3000

    assert (
        clean(
            "Chunk ID: 1a\nWall time: 0.1000 seconds\nProcess exited with code 0\n"
            f"Original token count: 5\nOutput:\n{printed}"
        ).text
        == printed
    )


@pytest.mark.parametrize(
    "output",
    [
        '{"output":"x"}',
        '{"output":"x","metadata":{"exit_code":0},"more":1}',
        '{"output":5,"metadata":{}}',
        '{"output":"cut off',
        "Exit code: zero\nOutput:\nx",
        "Chunk ID: 1a\nsomething else",
        "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code nine\nOutput:\nx",
        "Exit code: 0\nWall time: 1.2.3 seconds\nOutput:\nx",
        f"Exit code: 0\nWall time: {'9' * 400} seconds\nOutput:\nx",
        f"Exit code: {'9' * 5000}\nOutput:\nx",
        "Chunk ID: 1a\nWall time: inf seconds\nProcess exited with code 0\nOutput:\nx",
        "Wall time: . seconds\nOutput:\nx",
        "Wall time to spare",
        "Command: it was",
    ],
    ids=lambda output: output[:50],
)
def test_what_only_looks_like_a_wrapper_stays_as_it_is(output: str) -> None:
    assert clean(output) == Cleaned(output)


@pytest.mark.parametrize(
    "output",
    [
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nx",
        "Chunk ID: 1a\nWall time: 0.3015 seconds\nProcess running with session ID 9\nOutput:\n",
        "Chunk ID: 1a\nWall time: nan seconds\nProcess exited with code 0\nOutput:\nx",
        "Command: ls\nChunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n",
        "unsupported call: exec_command",
        "",
    ],
    ids=["another header", "running", "no number", "0.117", "a sentence", "nothing"],
)
def test_the_short_way_is_for_commands_that_finished_and_nothing_else(output: str) -> None:
    assert finished(output) is None


@given(st.text(), st.integers(-128, 255), st.integers(0, 10**6), st.booleans())
def test_the_short_way_ends_where_the_long_one_does(
    text: str, code: int, ms: int, counted: bool
) -> None:
    count = "Original token count: 5\n" if counted else ""
    output = (
        f"Chunk ID: 1a2b3c\nWall time: {ms / 1000:.4f} seconds\n"
        f"Process exited with code {code}\n{count}Output:\n{text}"
    )

    assert finished(output) == (text, code, ms)
    assert clean(output) == Cleaned(text, code, ms, code != 0)


# Refusals, failures, aborts.


@pytest.mark.parametrize(
    "output",
    [
        "exec command rejected by user",
        "patch rejected by user",
        "patch rejected: writing is blocked by read-only sandbox; "
        "rejected by user approval settings",
        'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
        "exec_command failed for `/bin/bash -lc 'touch x'`: "
        'CreateProcess { message: "Rejected(\\"This action was rejected due to risk.\\")" }',
    ],
)
def test_a_refusal_is_declined(output: str) -> None:
    assert clean(output) == Cleaned(output, is_error=True, status="declined")


@pytest.mark.parametrize(
    "output",
    [
        "unsupported call: no_such_tool",
        "unsupported custom tool call: apply_patch",
        "failed to parse function arguments: key must be a string at line 1 column 2",
        "apply_patch verification failed: Failed to find expected lines in /workspace/README.md",
        "error: Failed to find expected lines in /workspace/README.md:\nno such line",
        "execution error: LandlockSandboxExecutableNotProvided",
        "approval policy is Never; reject command \u2014 you cannot ask for escalated permissions",
        'exec_command failed: CreateProcess { message: "Codex(Sandbox(Denied { output: … })" }',
        "write_stdin failed: Unknown process id 91678",
        "unable to locate image at `/workspace/missing.png`: No such file or directory",
        "Command blocked by PreToolUse hook: forbidden by the hook. Command: echo forbidden",
    ],
)
def test_a_failure_of_the_harness_is_an_error(output: str) -> None:
    cleaned = clean(output)

    assert (cleaned.text, cleaned.is_error, cleaned.status) == (output, True, None)


@pytest.mark.parametrize(
    ("output", "cleaned"),
    [
        ("aborted", Cleaned("aborted", is_error=True, status="abandoned")),
        (
            "aborted by user after 0.1s",
            Cleaned("aborted by user after 0.1s", is_error=True, status="abandoned"),
        ),
        (
            "Wall time: 0.6 seconds\naborted by user",
            Cleaned("aborted by user", None, 600, is_error=True, status="abandoned"),
        ),
    ],
)
def test_an_abort_is_abandoned(output: str, cleaned: Cleaned) -> None:
    assert clean(output) == cleaned


@pytest.mark.parametrize(
    "output",
    [
        "It was aborted by user request, then went on.",
        "aborted by user, see the log",
        "The build said error: nothing",
        "no failed to execute",
    ],
)
def test_words_that_only_mention_it_are_no_failure(output: str) -> None:
    assert clean(output) == Cleaned(output)


def test_a_command_may_print_the_words_of_a_refusal() -> None:
    output = "Exit code: 0\nWall time: 0 seconds\nOutput:\npatch rejected by user\n"

    assert clean(output) == Cleaned("patch rejected by user\n", 0, 0)


# Lists of content, and stranger things.


@pytest.mark.parametrize(
    ("parts", "cleaned"),
    [
        pytest.param(
            [
                {
                    "type": "input_text",
                    "text": "Script completed\nWall time 0.1 seconds\nOutput:\n",
                },
                {"type": "input_text", "text": "slow\n"},
            ],
            Cleaned("slow\n", None, 100),
            id="a script of code mode",
        ),
        pytest.param(
            [
                {
                    "type": "input_text",
                    "text": "Script failed\nWall time 0.0 seconds\nOutput:\n",
                },
                {"type": "input_text", "text": "hello"},
                {"type": "input_text", "text": "Script error:\nError: on purpose"},
            ],
            Cleaned("hello\nScript error:\nError: on purpose", None, 0, is_error=True),
            id="a script that failed",
        ),
        pytest.param(
            [
                {
                    "type": "input_text",
                    "text": "Script running with cell ID 1\nWall time 0.3 seconds\nOutput:\n",
                },
                {"type": "input_text", "text": "before"},
            ],
            Cleaned("before", None, 300),
            id="a script still running",
        ),
        pytest.param(
            [
                {"type": "input_text", "text": "Wall time: 0.0018 seconds\nOutput:"},
                {"type": "input_text", "text": "boom happened"},
            ],
            Cleaned("boom happened", None, 2),
            id="a header of its own",
        ),
        pytest.param(
            [
                {
                    "type": "input_text",
                    "text": "Exit code: 2\nWall time: 1 seconds\nOutput:\none",
                },
                {"type": "input_text", "text": "two"},
            ],
            Cleaned("one\ntwo", 2, 1000, is_error=True),
            id="a header with the first text",
        ),
        pytest.param(
            [
                {"type": "input_text", "text": "a picture"},
                {"type": "input_image", "image_url": PIXEL, "detail": "high"},
            ],
            Cleaned("a picture\n[image image/png]"),
            id="pictures are named",
        ),
        pytest.param(
            [{"type": "input_image", "image_url": "https://example.com/a.png"}],
            Cleaned("[image https://example.com/a.png]"),
            id="a picture elsewhere",
        ),
        pytest.param([{"type": "image", "mimeType": "image/gif", "data": "R0lG"}],
            Cleaned("[image image/gif]"), id="a picture inside"),
        pytest.param([{"type": "image"}], Cleaned("[image]"), id="a picture of no kind"),
        pytest.param(
            [{"type": "resource_link", "uri": "file:///x/y.txt"}],
            Cleaned("[resource_link]"),
            id="other content is named",
        ),
        pytest.param(
            [{"type": "input_text", "text": "exec command rejected by user"}],
            Cleaned("exec command rejected by user", is_error=True, status="declined"),
            id="one text is read like a text",
        ),
        pytest.param(
            [{"type": "input_text", "text": "patch rejected by user"}, {"text": "or not"}],
            Cleaned("patch rejected by user\nor not"),
            id="many texts are a tool's own",
        ),
        pytest.param([], Cleaned(""), id="nothing"),
    ],
)  # fmt: skip
def test_a_list_of_content_becomes_text(parts: list[Any], cleaned: Cleaned) -> None:
    assert clean(parts) == cleaned


@pytest.mark.parametrize(
    ("output", "cleaned"),
    [
        ({"content": "done", "success": True}, Cleaned("done")),
        ({"content": "no", "success": False}, Cleaned("no", is_error=True)),
        ({"content": [{"type": "input_text", "text": "done"}]}, Cleaned("done")),
        (
            {"output": "Exit code: 2\nOutput:\nx"},
            Cleaned("x", 2, is_error=True),
        ),
        ({"answer": [1, None]}, Cleaned('{"answer":[1,null]}')),
        (None, Cleaned("null")),
        (True, Cleaned("true")),
    ],
    ids=str,
)
def test_an_output_that_is_no_text_is_not_lost(output: Any, cleaned: Cleaned) -> None:
    assert clean(output) == cleaned


@given(json_values)
def test_no_output_raises(output: Any) -> None:
    assert isinstance(clean(output).text, str)
    assert isinstance(clean_mcp(output).text, str)
    assert isinstance(mcp_result(output).text, str)
    assert isinstance(content_text(output), str)


@given(st.text(), st.integers(0, 255), st.integers(0, 10**6))
def test_whatever_a_command_prints_comes_out_as_it_was(text: str, code: int, ms: int) -> None:
    wall = f"Wall time: {ms / 1000:.4f} seconds"
    wrapped = [
        f"Exit code: {code}\n{wall}\nOutput:\n{text}",
        f"Chunk ID: 1a2b3c\n{wall}\nProcess exited with code {code}\n"
        f"Original token count: 1\nOutput:\n{text}",
        f"Command: ls\nChunk ID: 1a2b3c\n{wall}\nProcess exited with code {code}\nOutput:\n{text}",
    ]

    assert {clean(output) for output in wrapped} == {Cleaned(text, code, ms, code != 0)}
