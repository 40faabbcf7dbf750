from dragoman.harnesses.assembly.assembler import SessionAssembler
from dragoman.harnesses.assembly.memory import recall, remember
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import Message, TurnEnded, TurnStarted
from dragoman.model.usage import Usage


def _worked() -> SessionAssembler:
    session = SessionAssembler(Output(audit=False), "agent", "s")
    session.begin_session(version="1", model="m", cwd="/w")
    session.begin_turn()
    session.call("c", "Bash", "exec", {"command": "ls"})
    session.usage(Usage(input_tokens=10), Usage(input_tokens=10), 1000)
    session.end_turn("completed")
    return session


def test_another_teller_goes_on_as_the_first_would() -> None:
    first, second = _worked(), SessionAssembler(Output(audit=False), "agent")
    recall(second, remember(first))
    told: list[list[Message]] = []
    for session in (first, second):
        session._out.stream.take_messages()
        session.begin_session(model="m")
        session.begin_turn()
        session.result("c", "late")
        session.usage(Usage(input_tokens=25), Usage(input_tokens=15))
        session.end_turn("completed")
        told.append(session._out.stream.take_messages())
    assert told[0] == told[1]
    started = [m for m in told[1] if isinstance(m, TurnStarted)]
    ended = [m for m in told[1] if isinstance(m, TurnEnded)]
    assert [m.turn_id for m in started] == ["turn-2"]
    assert [m.usage for m in ended] == [Usage(input_tokens=15)]


def test_only_the_last_turns_are_remembered() -> None:
    session = _worked()
    for number in range(100):
        session.begin_turn(f"t{number}")
        session.end_turn("completed")
    assert remember(session).ended == [f"t{number}" for number in range(92, 100)]
