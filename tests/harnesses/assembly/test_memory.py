from dragoman.harnesses.assembly.assembler import Teller
from dragoman.harnesses.assembly.memory import recall, remember
from dragoman.harnesses.assembly.output import Output
from dragoman.model.messages import Message, TurnEnded, TurnStarted
from dragoman.model.usage import Usage


def _worked() -> Teller:
    teller = Teller(Output(audit=False), "agent", "s")
    teller.begin_session(version="1", model="m", cwd="/w")
    teller.begin_turn()
    teller.call("c", "Bash", "exec", {"command": "ls"})
    teller.usage(Usage(input_tokens=10), Usage(input_tokens=10), 1000)
    teller.end_turn("completed")
    return teller


def test_another_teller_goes_on_as_the_first_would() -> None:
    first, second = _worked(), Teller(Output(audit=False), "agent")
    recall(second, remember(first))
    told: list[list[Message]] = []
    for teller in (first, second):
        teller._out.take_messages()
        teller.begin_session(model="m")
        teller.begin_turn()
        teller.result("c", "late")
        teller.usage(Usage(input_tokens=25), Usage(input_tokens=15))
        teller.end_turn("completed")
        told.append(teller._out.take_messages())
    assert told[0] == told[1]
    started = [m for m in told[1] if isinstance(m, TurnStarted)]
    ended = [m for m in told[1] if isinstance(m, TurnEnded)]
    assert [m.turn_id for m in started] == ["turn-2"]
    assert [m.usage for m in ended] == [Usage(input_tokens=15)]


def test_only_the_last_turns_are_remembered() -> None:
    teller = _worked()
    for number in range(100):
        teller.begin_turn(f"t{number}")
        teller.end_turn("completed")
    assert remember(teller).ended == [f"t{number}" for number in range(92, 100)]
