"""Subcommands that run other programs, or configure what runs later.

A rule for ``npm`` covers ``npm test`` and ``npm ci``, but not ``npm config set script-shell ./x``. A rule that
names the subcommand (``npm config``) does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

_NPM: Final = (
    "config|c|set|edit|pkg|publish|init|innit|create|explore|exec|x|run env|run-script env|token|owner|access|hook"
    "|unpublish|dist-tag"
)
_KUBECTL: Final = (
    "exec|run|debug|cp|edit|attach|proxy|plugin|config set-credentials|config set-cluster|config set-context|config set"
    "|config use-context|config use|config unset|config delete-context|config delete-cluster|config delete-user"
    "|config rename-context"
)
_CONTAINERS: Final = (
    "create|container create|run|container run|exec|container exec|cp|container cp|plugin|service|stack|swarm|context create"
    "|context use|import|load|image import|image load|update|container update|buildx bake|compose run|compose exec|compose cp"
    "|unshare|play|kube|machine|system connection|volume create"
)
_SUBCOMMANDS: Final[dict[str, str]] = {
    **dict.fromkeys(("npm", "pnpm"), f"{_NPM}|dlx|node|patch-commit|env|setup|server"),
    "yarn": f"{_NPM}|dlx|node|npm|plugin|policies|global",
    "bun": "x|exec|create|c|init|repl|publish|upgrade",
    "pip": "config|download|wheel",
    "uv": "run|tool|publish|self",
    "poetry": "run|shell|config|env use|publish|self|source",
    "pdm": "run|use|config|self|plugin|publish",
    "pipenv": "run|shell|open",
    "hatch": "run|shell|config|publish|env run",
    **dict.fromkeys(
        ("conda", "mamba", "micromamba"), "run|config|init|env create|env update|shell"
    ),
    "cargo": "install|publish|login|owner|yank|watch|script|binstall",
    "rustup": "run|toolchain link|override|set|default",
    "go": "run|generate|install|env -w|env -u|bug|telemetry",
    "gem": "install|i|exec|open|server|push|owner|cert",
    "bundle": "exec|e|ex|exe|config|console|open|plugin",
    "composer": "exec|config|global|run-script|run|create-project|self-update|selfupdate",
    "kubectl": _KUBECTL,
    "oc": f"{_KUBECTL}|rsh|rsync",
    "helm": "plugin",
    **dict.fromkeys(("terraform", "tofu"), "console"),
    "aws": (
        "configure|ssm send-command|ssm start-session|ecs execute-command|emr ssh|emr put|ec2-instance-connect ssh|deploy install"
    ),
    "gcloud": (
        "compute ssh|compute scp|config set|components|beta compute ssh|alpha compute ssh|cloud-shell ssh|cloud-shell scp"
        "|compute config-ssh|compute connect-to-serial-port|compute start-iap-tunnel|workstations ssh|sql connect"
        "|auth print-access-token|auth activate-service-account"
    ),
    "az": "vm run-command|config|extension|ssh",
    "gh": "alias|extension|extensions|ext|config|codespace|cs|auth token|auth setup-git|auth git-credential|ssh-key|gpg-key",
    "glab": "alias|config|ssh-key",
    **dict.fromkeys(("docker", "podman", "nerdctl"), _CONTAINERS),
    "docker-compose": "run|exec|cp",
    "dotnet": "exec|msbuild|tool|new install|vstest|fsi|script|nuget add|nuget push|workload",
    "swift": "package plugin|repl",
    "coverage": "run",
    "deno": "run|serve|task|eval|install|repl|x|compile|jupyter|publish|upgrade",
    "mix": "eval|cmd|do|run|archive.install|escript.install|local.hex|local.rebar|hex.publish",
    "stack": "exec|runghc|runhaskell|ghci|repl|script|eval|config set|upload",
    "cabal": "exec|repl|user-config|act-as-setup|upload|v1-exec|v2-exec|new-exec|v1-repl|v2-repl|new-repl",
    "opam": "exec|config|pin|repository",
    "dune": "exec|utop",
    "nim": "e|r|secret",
    "crystal": "eval|play|playground|run|i|interactive",
    "lein": "exec|update-in|repl|trampoline|with-profile",
    "sbt": "eval|console|runMain|set|consoleQuick|consoleProject|alias|shell",
    "dart": "pub global|pub publish",
    "flutter": "pub global",
    "pod": "ipc|plugins",
    "fastlane": "run|action",
    "pre-commit": "try-repo|init-templatedir|hook-impl",
    "tox": "exec|e",
    "nx": "exec|run-commands|generate|g",
    "lerna": "exec",
    "turbo": "gen|generate",
    "django-admin": "shell|startproject|dbshell",
    "flask": "shell",
    "celery": "shell",
    "vagrant": "ssh|plugin|powershell|winrm",
    "packer": "console|plugins",
    "mkdocs": "gh-deploy",
    "zig": "run|fetch",
    "meson": "devenv|runpython|subprojects foreach",
    "pandoc": "lua|server",
    "code": "tunnel|serve-web|ext|chat|agent",
    "tmux": (
        "set|set-option|setw|set-window-option|set-environment|setenv|choose-tree|choose-client|choose-buffer|confirm|confirm-before"
        "|copy-mode|new|attach|a|attach-session"
    ),
    "redis-cli": "config set|CONFIG SET|Config Set",
    "systemctl": "edit|link|set-environment|import-environment|switch-root",
    "ip": "|".join(
        f"{group} {verb}"
        for group in ("net", "netn", "netns", "vr", "vrf")
        for verb in ("e", "ex", "exe", "exec")
    ),
    **dict.fromkeys(("apt", "apt-get"), "changelog|edit-sources"),
    "brew": "edit|sh|ruby|irb",
    "hg": "extdiff|bisect|debugshell|serve",
    "svn": "propset|pset|ps|propedit|pedit|pe",
    "openssl": "engine|s_server",
    "lxc": "exec|file|config",
    "bat": "cache",
}
"""Entries are separated by ``|``; a second word is a subcommand of the first."""
_PARSED: Final = {
    name: tuple(tuple(one.split()) for one in table.split("|") if one)
    for name, table in _SUBCOMMANDS.items()
}
_MAVEN_GOAL: Final = re.compile(
    r"(?:dependency:(?:tree|analyze|list|resolve|go-offline)|help:.*|versions:display-.*|compiler:.*|surefire:.*|failsafe:.*"
    r"|spotless:\w+|checkstyle:check|spring-boot:run|jacoco:report|javadoc:\w+|source:\w+|resources:\w+|clean:clean|jar:jar"
    r"|war:war|site:site|enforcer:enforce|formatter:\w+|license:\w+|pmd:\w+|spotbugs:check|cobertura:\w+|quarkus:(?:dev|test))"
)
"""Common goals given by name. The plug-in of any other goal may run what its properties name."""


_ABBREVIATED: Final = {
    "npm": (
        *("publish", "unpublish", "config", "init", "create", "explore", "exec", "edit"),
        *("owner", "access", "hook", "token"),
    )
}
"""npm also accepts the first letters of a command, three at least here."""


def has_subcommands(name: str) -> bool:
    """Whether the table lists subcommands of the program."""
    return name in _PARSED


def running_subcommand(name: str, words: Sequence[str], named: int) -> str | None:
    """The first such subcommand that the rule's ``named`` words do not include."""
    if name == "mvn":
        goals = (word for word in words[named:] if ":" in word and not word.startswith("-"))
        return next((goal for goal in goals if not _MAVEN_GOAL.fullmatch(goal)), None)
    table = _PARSED.get(name, ())
    if not table:
        return None
    if name == "sbt":
        # Each argument is a command of its own.
        given = (word for word in words[named:] if not word.startswith("-"))
        bad = {wanted[0] for wanted in table}
        return next(
            (one for one in given if not bad.isdisjoint(one.split()[:1]) or one[:1] in "!;"), None
        )
    for at in operands(words):
        given = words[at]
        if len(given) > 2 and at >= named:
            full = [one for one in _ABBREVIATED.get(name, ()) if one.startswith(given)]
            if full:
                return given
        for wanted in table:
            found = tuple(words[at : at + 1])
            rest = words[at + 1 :]
            if found != wanted[:1]:
                continue
            if len(wanted) == 1:
                if at >= named:
                    return words[at]
                continue
            is_there = (
                wanted[1] in rest if wanted[1].startswith("-") else _first_is(rest, wanted[1:])
            )
            if is_there and at + 1 >= named:
                return f"{words[at]} {wanted[1]}"
    return None


def operands(words: Sequence[str]) -> Iterator[int]:
    """The indexes of words that may be the subcommand: the first operand, and words that may be option values."""
    after_option = False
    for at, word in enumerate(words[1:], 1):
        if word.startswith(("-", "+")):
            after_option = "=" not in word
        else:
            yield at
            if not after_option:
                return
            after_option = False


def _first_is(rest: Sequence[str], wanted: Sequence[str]) -> bool:
    places = list(operands(["", *rest]))
    return any(tuple(rest[at - 1 : at - 1 + len(wanted)]) == tuple(wanted) for at in places)
