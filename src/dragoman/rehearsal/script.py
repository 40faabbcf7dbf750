"""What the stand-in model is to say: a script, as plain values.

A script has turns, a turn has steps. Each turn answers one prompt. A model hands control back with
every tool it calls, so a turn is cut into responses after each call; ``Together`` puts several steps
into one response instead. Nothing here knows files, HTTP or the agent's tools.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

Seconds: TypeAlias = Annotated[float, Meta(ge=0)]
Times: TypeAlias = Annotated[int, Meta(ge=1)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that the model does."""


# What a model says.


class Say(Step, frozen=True):
    """Text for the user."""

    text: str
    phase: Literal["commentary", "final_answer"] | None = None
    bytes: Count | None = None
    """Say the text again and again until it is this long."""

    @property
    def whole(self) -> str:
        """The text at its full length."""
        if self.bytes is None:
            return self.text
        text = self.text or "x"
        return (text * (self.bytes // len(text) + 1))[: self.bytes]


class Think(Step, frozen=True):
    """Reasoning: its summary, in one or more parts, and the raw thoughts if the model shows them."""

    summary: str | tuple[str, ...] = ()
    raw: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The summary's parts."""
        return (self.summary,) if isinstance(self.summary, str) else self.summary


class Search(Step, frozen=True):
    """A search that the model's own side does: for words, or a page opened, or words found in it."""

    query: str | None = None
    url: str | None = None
    find: str | None = None


class Item(Step, frozen=True):
    """An output item as it is, for whatever has no step of its own."""

    item: dict[str, Any]


# What a model calls; the response ends with it.


class Call(Step, frozen=True):
    """A tool call: the agent works, then asks the model again."""


class Run(Call, frozen=True):
    """A shell command."""

    command: str
    escalate: str | None = None
    """Ask to run outside the sandbox, and why: this makes the agent ask for approval."""
    workdir: str | None = None
    wait: Seconds | None = None
    """How long the agent waits for it; then it is left in the background, or ended in old releases.

    Without it, as long as the agent likes: about ten seconds.
    """


class Patch(Call, frozen=True):
    """Changes to files, in the language of ``apply_patch``."""

    patch: str


class PlanStep(Struct, frozen=True):
    """One step of a plan."""

    text: str
    status: Literal["pending", "in_progress", "completed"]


class Plan(Call, frozen=True):
    """The plan and how far it has come."""

    steps: tuple[PlanStep, ...]
    explanation: str | None = None


class Mcp(Call, frozen=True):
    """A tool of an MCP server."""

    server: str
    tool: str
    arguments: dict[str, Any] = {}


class Tool(Call, frozen=True):
    """Any other tool by its name: dynamic tools, sub-agents, questions."""

    name: str
    arguments: dict[str, Any] | str = {}
    """A mapping, or any text: arguments that are not JSON are a fault worth rehearsing."""
    namespace: str | None = None


class Read(Call, frozen=True):
    """A look at a file."""

    path: str


class Write(Call, frozen=True):
    """A whole file."""

    path: str
    text: str


class Edit(Call, frozen=True):
    """One change to a file."""

    path: str
    old: str
    new: str


class Agent(Call, frozen=True):
    """A sub-agent with a task of its own, answered by the turn whose ``when`` is in the prompt."""

    prompt: str
    description: str = "Help"


class Ask(Call, frozen=True):
    """A question to the user."""

    question: str
    options: tuple[str, ...] = ("Yes", "No")
    header: str = "Question"


class Together(Step, frozen=True):
    """Several steps in one response: parallel calls, or words after a call."""

    steps: tuple[Step, ...]


# How the answer goes: applies to the response it stands in.


class Tokens(Step, frozen=True):
    """What the response is said to have cost."""

    input: Count = 100
    cached: Count = 0
    output: Count = 20
    reasoning: Count = 0
    written: Count = 0
    """The part of the input that was written to the cache, where the API counts it."""


class Headers(Step, frozen=True):
    """HTTP headers of the response, for instance rate limits."""

    headers: dict[str, str]


class Pause(Step, frozen=True):
    """Wait before going on."""

    seconds: Seconds


class Slow(Step, frozen=True):
    """From here on, wait before each event of this response."""

    seconds: Seconds


# Faults. ``times`` is how many attempts meet the fault; without it, all do.


class Fault(Step, frozen=True, kw_only=True):
    """Something that goes wrong; after ``times`` attempts it no longer does."""

    times: Times | None = None


class Http(Fault, frozen=True):
    """An HTTP error instead of an answer."""

    status: Annotated[int, Meta(ge=300, le=599)]
    code: str | None = None
    kind: str | None = field(default=None, name="type")
    message: str | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    """The whole body, instead of the usual JSON error."""


class Drop(Fault, frozen=True):
    """The connection is lost: here, in the middle of a text, or before any answer."""

    saying: str | None = None
    unanswered: bool = False


class Silence(Fault, frozen=True):
    """Nothing more comes, and the connection stays open; after ``seconds``, it is lost."""

    seconds: Seconds | None = None


class Fail(Fault, frozen=True):
    """The model reports that it failed."""

    code: str
    message: str = "The rehearsal script says that this response fails."


class Incomplete(Fault, frozen=True):
    """The model stops before it is done."""

    reason: str = "max_output_tokens"


class Garbage(Fault, frozen=True):
    """An event that is not JSON."""

    text: str = '{"type":"response.output_item.done","item":{'


class Turn(Struct, frozen=True):
    """The answer to one prompt."""

    steps: tuple[Step, ...]
    when: str | None = None
    """Only for prompts that contain this."""


class Script(Struct, frozen=True):
    """Everything the stand-in model will say, and how the agent should be set up for it."""

    turns: tuple[Turn, ...] = ()
    otherwise: str = "The rehearsal script has nothing more to say."
    """The answer to a prompt that no turn is for."""
    model: str | None = None
    retries: Count = 0
    """How often the agent may repeat a failed request."""
    config: dict[str, Any] = {}
    """Settings of Codex beyond those that the rehearsal needs."""
    claude: dict[str, Any] = {}
    """Settings of Claude, likewise."""
    gemini: dict[str, Any] = {}
    copilot: dict[str, Any] = {}
    qwen: dict[str, Any] = {}
    opencode: dict[str, Any] = {}

    def settings_of(self, agent: str) -> dict[str, Any]:
        """The settings for one agent."""
        return self.config if agent == "codex" else getattr(self, agent, {})


def responses(
    turn: Turn, calling: tuple[type[Step], ...] = (Call,)
) -> tuple[tuple[Step, ...], ...]:
    """The turn's steps, cut where the model hands control back to the agent.

    ``calling`` are the steps that do so: what one API does by itself is a call in another.
    """
    done: list[tuple[Step, ...]] = []
    current: list[Step] = []
    for step in turn.steps:
        if isinstance(step, Together):
            if current:
                done.append(tuple(current))
                current = []
            done.append(step.steps)
            continue
        current.append(step)
        if isinstance(step, calling):
            done.append(tuple(current))
            current = []
    if current or not done:
        done.append(tuple(current))
    return tuple(done)
