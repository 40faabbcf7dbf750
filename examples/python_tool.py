"""Let the agent call a Python function."""

import sys

import dragoman
from rehearsing import workspace

_SCRIPT = """
- tool: {name: lookup_ticket, arguments: {number: T-7}}
- say: T-7 is about a door that does not close.
"""


def lookup_ticket(number: str) -> dict[str, str]:
    """Look up a ticket by its number."""
    print("asked for", number)
    return {"number": number, "title": "The door does not close"}


def main() -> None:
    with workspace(_SCRIPT) as (repo, env):
        result = dragoman.run(
            "codex", "What is T-7 about?", cwd=repo, env=env, session={"tools": [lookup_ticket]}
        )
    print(result.text)


if __name__ == "__main__":
    sys.exit(main())
