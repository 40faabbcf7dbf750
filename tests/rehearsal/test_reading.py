from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import UsageError
from dragoman.rehearsal.reading import KINDS, BadScript, parse_script, read_script
from dragoman.rehearsal.script import (
    Agent,
    Ask,
    Drop,
    Edit,
    Fail,
    Garbage,
    Headers,
    Http,
    Incomplete,
    Item,
    Mcp,
    Patch,
    Pause,
    Plan,
    PlanStep,
    Read,
    Run,
    Say,
    Script,
    Search,
    Silence,
    Slow,
    Step,
    Think,
    Together,
    Tokens,
    Tool,
    Turn,
    Write,
)

_EVERYTHING = """\
- say: Hello.
- say: {text: Hello., phase: commentary, bytes: 100}
- think: One thought.
- think: [First., Second.]
- think: {summary: First., raw: really}
- search: weather
- search: {url: "https://example.com", find: rain}
- item: {type: image_generation_call, id: ig_1}
- run: ls
- run: {command: rm x, escalate: It is in the way., workdir: /tmp, wait: 5}
- patch: "*** Begin Patch"
- plan: [{done: Look}, {doing: Fix}, {todo: Test}]
- plan: {explanation: Because., steps: [{todo: All of it}]}
- mcp: {server: tiny, tool: add, arguments: {a: 1}}
- tool: view_image
- read: a.txt
- write: {path: b.txt, text: hello}
- edit: {path: b.txt, old: a, new: b}
- agent: Look around.
- agent: {prompt: Look., description: Scout}
- ask: "Which?"
- ask: {question: "Which?", options: [A, B], header: Choice}
- tool: {name: lookup, namespace: tickets, arguments: "{not json"}
- together: [{run: a}, {run: b}]
- tokens: {input: 1, cached: 2, output: 3, reasoning: 4}
- headers: {x-one: "1"}
- pause: 0.5
- slow: 1
- http: 429
- http: {status: 500, code: c, type: t, message: m, headers: {retry-after: "1"}, times: 2}
- drop
- drop: true
- drop: {saying: never fin, times: 1}
- silence
- silence: 2
- overflow
- fail: server_error
- incomplete
- garbage: "{"
"""

_STEPS: list[Step] = [
    Say("Hello."),
    Say("Hello.", "commentary", 100),
    Think("One thought."),
    Think(("First.", "Second.")),
    Think("First.", "really"),
    Search("weather"),
    Search(url="https://example.com", find="rain"),
    Item({"type": "image_generation_call", "id": "ig_1"}),
    Run("ls"),
    Run("rm x", "It is in the way.", "/tmp", 5),
    Patch("*** Begin Patch"),
    Plan(
        (
            PlanStep("Look", "completed"),
            PlanStep("Fix", "in_progress"),
            PlanStep("Test", "pending"),
        )
    ),
    Plan((PlanStep("All of it", "pending"),), "Because."),
    Mcp("tiny", "add", {"a": 1}),
    Tool("view_image"),
    Read("a.txt"),
    Write("b.txt", "hello"),
    Edit("b.txt", "a", "b"),
    Agent("Look around."),
    Agent("Look.", "Scout"),
    Ask("Which?"),
    Ask("Which?", ("A", "B"), "Choice"),
    Tool("lookup", "{not json", "tickets"),
    Together((Run("a"), Run("b"))),
    Tokens(1, 2, 3, 4),
    Headers({"x-one": "1"}),
    Pause(0.5),
    Slow(1),
    Http(429),
    Http(500, "c", "t", "m", {"retry-after": "1"}, times=2),
    Drop(),
    Drop(),
    Drop("never fin", times=1),
    Silence(),
    Silence(2),
    Fail("context_length_exceeded", "Your input exceeds the context window of this model."),
    Fail("server_error"),
    Incomplete(),
    Garbage("{"),
]


def test_every_step_has_a_short_and_a_long_form() -> None:
    script = parse_script(_EVERYTHING)

    assert list(script.turns[0].steps) == _STEPS
    assert {kind.partition(":")[0] for kind in _EVERYTHING.replace("- ", "").split("\n")[:-1]} == (
        set(KINDS)
    )


def test_a_list_of_steps_is_a_script_of_one_turn() -> None:
    assert parse_script("- say: Hello.") == Script((Turn((Say("Hello."),)),))


def test_turns_may_name_the_prompts_that_they_answer() -> None:
    text = "turns:\n- say: first\n- {when: tests, steps: [{say: second}]}\n- [{say: third}]"

    assert parse_script(text).turns == (
        Turn((Say("first"),)),
        Turn((Say("second"),), "tests"),
        Turn((Say("third"),)),
    )


def test_a_script_may_set_up_the_agent() -> None:
    script = parse_script("{otherwise: No., model: m, retries: 2, config: {a: {b: 1}}}")

    assert script == Script((), "No.", "m", 2, {"a": {"b": 1}})


def test_a_script_is_a_path_a_text_or_already_there(tmp_path: Path) -> None:
    path = tmp_path / "hello.yaml"
    path.write_text("- say: Hello.", encoding="utf-8")

    script = read_script(path)

    assert read_script(str(path)) == read_script("- say: Hello.") == read_script(script) == script


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("- sya: x", "the script: line 1, step 1: there is no step 'sya'; did you mean 'say'?"),
        (
            "turns:\n- - say: a\n  - rnu: b",
            "the script: line 3, turn 1, step 2: there is no step 'rnu'; did you mean 'run'?",
        ),
        (
            "turns:\n- {when: x, steps: [{say: 1}]}",
            "the script: line 2, turn 1, step 1, say: "
            "`text` should be text, not a number; put it in quotes",
        ),
        (
            "- hello",
            "the script: line 1, step 1: a step is `kind: value`; did you mean `say: hello`?",
        ),
        (
            "- say: a\n  run: b",
            "the script: line 1, step 1: a step is one `kind: value`; begin the next one with a dash",
        ),
        ("- run:", "the script: line 1, step 1, run: it says nothing; give it a value"),
        (
            "- run: {workdir: x}",
            "the script: line 1, step 1, run: it needs `command`",
        ),
        (
            "- run: {command: x, esclate: y}",
            "the script: line 1, step 1, run: there is no option 'esclate'; did you mean 'escalate'?",
        ),
        (
            "- mcp: x",
            "the script: line 1, step 1, mcp: "
            "it should be a mapping of `server`, `tool`, `arguments`",
        ),
        (
            "- plan: [Look]",
            "the script: line 1, step 1, plan: "
            "each step of a plan is `done: …`, `doing: …` or `todo: …`",
        ),
        ("- together: x", "the script: line 1, step 1, together: it should be a list of steps"),
        (
            "- together: [{together: []}]",
            "the script: line 1, step 1, together: one `together` cannot stand in another",
        ),
        (
            "- http: 200",
            "the script: line 1, step 1, http: `status`: expected `int` >= 300",
        ),
        (
            "- say: a\n- http: 500",
            "the script: line 2, step 2: "
            "something is said before it in the same response; put it first",
        ),
        ("turn: []", "the script: there is no 'turn' here; did you mean 'turns'?"),
        (
            "turns: 3",
            "the script: line 1: it should be a list with one entry for each prompt",
        ),
        (
            "turns: [3]",
            "the script: line 1, turn 1: "
            "a turn is a list of steps, or a mapping with `when` and `steps`",
        ),
        ("turns: [{when: x}]", "the script: line 1, turn 1: it needs `steps`, a list"),
        (
            "turns: [{when: yes, steps: []}]",
            "the script: line 1, turn 1, when: it should be text; put it in quotes",
        ),
        ("retries: -1", "the script: `retries`: expected `int` >= 0"),
        (
            "42: ",
            "the script: there is no 42 here; there are turns, otherwise, model, retries, config",
        ),
        ("just words: [", "the script: line 1: this is not YAML: expected the node content"),
        ("\n- - -", "the script: line 2, step 1: a step is one `kind: value`"),
        ("\nhello", "the script: a script is a list of steps, or a mapping with `turns`"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(BadScript) as problem:
        parse_script(text)

    assert str(problem.value).startswith(sentence)
    assert isinstance(problem.value, UsageError)


def test_a_script_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, binary = tmp_path / "missing.yaml", tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\xfa")

    with pytest.raises(BadScript, match=r"missing\.yaml: no such file or directory"):
        read_script(missing)
    with pytest.raises(BadScript, match=r"binary\.yaml: it is not UTF-8 text"):
        read_script(binary)


def test_an_http_error_may_follow_a_call_or_another_fault() -> None:
    steps = parse_script("- say: a\n- run: b\n- drop: {unanswered: true, times: 1}\n- http: 500")

    assert len(steps.turns[0].steps) == 4
