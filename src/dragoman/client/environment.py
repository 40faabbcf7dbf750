"""The environment for an agent's program: it looks for its home where we look for it.

A shell expands a ``~`` only at the beginning of an unquoted word, so ``CODEX_HOME='~/alt'`` arrives unchanged.
We expand it; the agent would take it for a folder called ``~``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from dragoman.client.connection import Connection
from dragoman.harnesses import all_harnesses
from dragoman.harnesses.contract.harness import Harness


def expanded_home(harness: Harness, env: Mapping[str, str]) -> dict[str, str]:
    """What to lay over this environment: the harness's home, if its name has to be expanded."""
    name = harness.history.home_folder.variable if harness.history is not None else ""
    named = env.get(name, "")
    return {name: os.path.expanduser(named)} if named.startswith("~") else {}


def env_with_home(harness: Harness, how: Connection) -> Mapping[str, str]:
    """What is added to the environment of an agent: it looks where we look, if it is on this machine."""
    if how.ssh is not None or how.address is not None:
        return how.env
    return {**how.env, **expanded_home(harness, {**os.environ, **how.env})}


def agent_environ() -> dict[str, str]:
    """Our own environment, with the homes of all harnesses expanded."""
    env = dict(os.environ)
    for each in all_harnesses():
        env.update(expanded_home(each, env))
    return env
