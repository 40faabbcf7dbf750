"""Rules about a conversation: start, approve, deny, interrupt, resume, crash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import TypeAlias

from dragoman.errors import Unsupported
from dragoman.harnesses.contract.transport import SessionTransport
from dragoman.model.intents import Decide, Greet, Interrupt, StartTurn
from dragoman.model.messages import (
    ApprovalRequested,
    ApprovalSettled,
    Message,
    Text,
    TurnEnded,
    TurnStarted,
)
from dragoman.testing.conformance.check import BUGS, ConformanceRule, described
from dragoman.testing.conformance.corpus import Corpus
from dragoman.testing.conformance.driving.exchange import TrialExchange, opening
from dragoman.testing.conformance.driving.stories import AGAIN, FIRST, LAST
from dragoman.testing.conformance.once import call_problems
from dragoman.testing.mutations import mutated

Made: TypeAlias = Callable[..., TrialExchange]


def _transports(corpus: Corpus) -> Iterator[tuple[SessionTransport, Made]]:
    if corpus.harness.playback is None:
        return
    for transport in corpus.harness.transports:
        if isinstance(transport, SessionTransport):

            def make(transport: SessionTransport = transport, **options: object) -> TrialExchange:
                return TrialExchange(corpus.harness, transport, **options)  # pyright: ignore[reportArgumentType]

            yield transport, make


def a_driven_harness_can_be_played(corpus: Corpus) -> Iterator[str]:
    """Without a fake agent, none of the rules about driving can be checked."""
    if corpus.harness.transports and corpus.harness.playback is None:
        yield "it has transports, and no `playback` to check them with"
    if corpus.harness.transports and corpus.harness.program is None:
        yield "it has transports, and no `program` to start"


def a_conversation_starts_silent(corpus: Corpus) -> Iterator[str]:
    """Nothing is sent, emitted or answered before the first intent."""
    for transport, make in _transports(corpus):
        talk = make().conversation
        if said := [
            *talk.lines_to_send(),
            *talk.messages(),
            *talk.answers(),
            *talk.tool_requests(),
        ]:
            yield f"{transport.name}: {said}"


def turns_run_to_their_ends(corpus: Corpus) -> Iterator[str]:
    """Two prompts, one after the other: each gets its texts, its call with a result, and one end."""
    for transport, make in _transports(corpus):
        talk = make()
        talk.greet()
        session = talk.open().session_id
        for prompt in ("Make the file.", "And now?"):
            talk.start_turn(session, prompt)
            talk.play()
        texts = [text.text for text in talk.of(Text)]
        if texts != [FIRST, LAST, AGAIN]:
            yield f"{transport.name}: the texts are {texts}"
        ends = [end.outcome for end in talk.of(TurnEnded)]
        if ends != ["completed", "completed"] or len(talk.of(TurnStarted)) != 2:
            yield f"{transport.name}: {len(talk.of(TurnStarted))} turns end as {ends}"
        if talk.started().session_id != session:
            yield f"{transport.name}: session_started names {talk.started().session_id}, not {session}"
        if {message.session_id for message in talk.of(Text)} != {session}:
            yield f"{transport.name}: a text does not name its session"
        yield from (f"{transport.name}: {problem}" for problem in call_problems(talk.messages))
        for line in talk.sent:
            if not line.endswith(b"\n") or line.count(b"\n") != 1:
                yield f"{transport.name}: this is not one line: {line[:200]!r}"


def approvals_are_asked_and_allowed(corpus: Corpus) -> Iterator[str]:
    """The agent waits for a decision; it is asked once, settled once, and the turn continues."""
    yield from _decided(corpus, "allow", "completed")


def approvals_can_be_denied(corpus: Corpus) -> Iterator[str]:
    """A denial is settled as one."""
    yield from _decided(corpus, "deny", None)


def _decided(corpus: Corpus, decision: str, outcome: str | None) -> Iterator[str]:
    for transport, make in _transports(corpus):
        talk = make(asks=True)
        talk.greet()
        session = talk.open().session_id
        talk.start_turn(session)
        talk.play(_is_approval)
        asked = talk.of(ApprovalRequested)
        if len(asked) != 1:
            yield f"{transport.name}: {len(asked)} approvals are requested, not 1"
            continue
        if talk.of(TurnEnded) or talk.of(ApprovalSettled):
            yield f"{transport.name}: the agent does not wait for the decision"
        before = len(talk.sent)
        talk.submit(Decide(session_id=session, approval_id=asked[0].approval_id, decision=decision))
        if len(talk.sent) != before + 1:
            yield f"{transport.name}: {len(talk.sent) - before} lines are sent for a decision, not 1"
        talk.play()
        settled = [each.decision for each in talk.of(ApprovalSettled)]
        if settled != [decision]:
            yield f"{transport.name}: {decision!r} is settled as {settled}"
        if outcome is not None and talk.end().outcome != outcome:
            yield f"{transport.name}: the turn ends as {talk.end().outcome}"
        yield from (f"{transport.name}: {problem}" for problem in call_problems(talk.messages))


def _is_approval(message: Message) -> bool:
    return isinstance(message, ApprovalRequested)


def a_turn_can_be_interrupted(corpus: Corpus) -> Iterator[str]:
    """An interrupt ends this turn as ``interrupted``, once, and the next turn is not affected."""
    for transport, make in _transports(corpus):
        if "interrupt" not in corpus.harness.capabilities(None).can:
            continue
        talk = make(pause=1.0)
        talk.greet()
        session = talk.open().session_id
        turn = talk.start_turn(session)
        talk.submit(Interrupt(session_id=session, turn_id=turn))
        if talk.end().outcome != "interrupted":
            yield f"{transport.name}: an interrupted turn ends as {talk.end().outcome}"
        talk.start_turn(session, "And now?")
        talk.play()
        ends = [end.outcome for end in talk.of(TurnEnded)]
        if ends != ["interrupted", "completed"]:
            yield f"{transport.name}: after an interrupt, the turns end as {ends}"


def a_session_can_be_resumed(corpus: Corpus) -> Iterator[str]:
    """A new process continues the session under its id."""
    for transport, make in _transports(corpus):
        if "resume" not in corpus.harness.capabilities(None).can:
            continue
        first = make()
        first.greet()
        session = first.open().session_id
        talk = make()
        talk.greet()
        facts = talk.open(resume=session)
        if facts.session_id != session or not facts.resumed:
            yield f"{transport.name}: resuming {session} is answered with {facts}"
        talk.start_turn(facts.session_id)
        talk.play()
        if talk.end().outcome != "completed":
            yield f"{transport.name}: the turn of a resumed session ends as {talk.end().outcome}"


def a_crash_ends_what_is_open(corpus: Corpus) -> Iterator[str]:
    """When the process is gone, the turn gets one end, each call a result, each intent an answer."""
    for transport, make in _transports(corpus):
        talk = make(asks=True)
        talk.greet()
        session = talk.open().session_id
        talk.start_turn(session)
        talk.play(_is_approval)
        late = talk.conversation.submit(StartTurn(session_id=session, text="Are you there?"))
        talk.answers.setdefault(late, [])
        talk.conversation.receive_eof()
        talk.conversation.receive_eof()
        talk.exchange()
        if talk.end().outcome == "completed":
            yield f"{transport.name}: the turn of a crashed agent ends as completed"
        for ticket, answers in talk.answers.items():
            if len(answers) != 1:
                yield f"{transport.name}: after a crash, intent {ticket} has {len(answers)} answers"
        asked = Counter(each.approval_id for each in talk.of(ApprovalRequested))
        settled = Counter(each.approval_id for each in talk.of(ApprovalSettled))
        if asked != settled:
            yield f"{transport.name}: after a crash, {asked - settled} are not settled"
        yield from (f"{transport.name}: {problem}" for problem in call_problems(talk.messages))


def a_turn_that_we_end_stays_ended(corpus: Corpus) -> Iterator[str]:
    """Lines that still arrive for a turn that was given up do not start it again."""
    for transport, make in _transports(corpus):
        talk = make(pause=1.0)
        talk.greet()
        session = talk.open().session_id
        talk.start_turn(session)
        talk.conversation.end_turn(session, "failed")
        talk.exchange()
        if talk.end().outcome != "failed":
            yield f"{transport.name}: a turn that we end as failed ends as {talk.end().outcome}"
        talk.play()
        if len(talk.of(TurnEnded)) != 1 or len(talk.of(TurnStarted)) != 1:
            ends = [end.outcome for end in talk.of(TurnEnded)]
            yield f"{transport.name}: {len(talk.of(TurnStarted))} starts and {ends} for one turn"


def no_line_of_the_agent_raises(corpus: Corpus) -> Iterator[str]:
    """The agent's lines are damaged at random: nothing raises, and no turn ends twice."""
    for transport, make in _transports(corpus):
        for seed in range(max(20, corpus.mutations // 4)):
            random = Random(seed)

            def damage(line: bytes, random: Random = random) -> list[bytes]:
                return mutated(random, [line]) if random.random() < 0.2 else [line]

            talk = make(asks=True, damage=damage)
            try:
                for problem in _disturbed(talk):
                    yield f"{transport.name}, damaged with seed {seed}: {problem}"
            except BUGS as problem:
                yield f"{transport.name}, damaged with seed {seed}: {described(problem)}"


def _disturbed(talk: TrialExchange) -> Iterator[str]:
    session = _opened(talk)
    if session is not None:
        try:
            talk.submit(StartTurn(session_id=session, text="Make the file."))
        except Unsupported:
            return  # the damage made it another release
        talk.play(_is_approval)
        for asked in talk.of(ApprovalRequested):
            decision = Decide(
                session_id=asked.session_id or session,
                approval_id=asked.approval_id,
                decision="allow",
            )
            talk.submit(decision)
        talk.play()
    talk.conversation.receive_eof()
    talk.exchange()
    for ticket, answers in talk.answers.items():
        if len(answers) != 1:
            yield f"intent {ticket} has {len(answers)} answers"
    started = Counter((each.session_id, each.turn_id) for each in talk.of(TurnStarted))
    ended = Counter((each.session_id, each.turn_id) for each in talk.of(TurnEnded))
    if any(times > 1 for times in ended.values()):
        yield f"a turn ends twice: {ended}"
    if started.total() > ended.total():
        yield f"{started.total()} turns start and {ended.total()} end"


def _opened(talk: TrialExchange) -> str | None:
    talk.submit(Greet(client="conformance", client_version="1"))
    ticket = talk.submit(opening(talk.harness))
    answers = talk.answers[ticket]
    return answers[0].value.session_id if answers and answers[0].refusal is None else None


RULES: tuple[ConformanceRule, ...] = (
    a_driven_harness_can_be_played,
    a_conversation_starts_silent,
    turns_run_to_their_ends,
    approvals_are_asked_and_allowed,
    approvals_can_be_denied,
    a_turn_can_be_interrupted,
    a_session_can_be_resumed,
    a_crash_ends_what_is_open,
    a_turn_that_we_end_stays_ended,
    no_line_of_the_agent_raises,
)
