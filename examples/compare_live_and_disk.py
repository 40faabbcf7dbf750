"""Compare three recordings of one task: `codex exec`, the app-server, and the session file.

All three used the same prompt and the same scripted model, so they fold to the same steps.
"""

from pathlib import Path

import dragoman

RECORDINGS = Path(__file__).parent / "recordings"


def steps(name: str) -> list[str]:
    found: list[str] = []
    for turn in dragoman.fold(dragoman.read(RECORDINGS / f"fix-the-test.{name}.jsonl")):
        for step in turn.steps:
            match step:
                case dragoman.Text(text=text):
                    found.append(f"says {text[:40]!r}")
                case dragoman.Use(call=call, result=result) if call.tool != "TodoWrite":
                    failed = result is not None and result.is_error
                    found.append(f"uses {call.tool}{', which fails' if failed else ''}")
                case _:
                    pass
    return found


exec_, app_server, rollout = map(steps, ("exec", "app-server", "rollout"))
print(*rollout, sep="\n")
print("all three alike:", exec_ == app_server == rollout)
