"""Interpreters run whatever file, module or archive they are given, as a shell does.

A rule that names only the interpreter (``python``) covers ``python --version``, and nothing that runs: it is as
little a limit as ``sh``. It must name the file (``python manage.py``), the option that takes one (``python -m
pytest``, ``java -jar``), or the files that it covers (``path``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dragoman.drive.approvals.shell.programs import SHELLS, names, program

INTERPRETERS: Final = names(
    """
    python pypy ipython bpython ptpython jython micropython node nodejs ts-node tsx ruby irb jruby perl php lua luajit julia
    rscript r java jshell groovy groovysh kotlin scala elixir iex erl escript tclsh wish osascript ocaml ghci runghc
    runhaskell racket guile sbcl clisp ecl octave gnuplot wine wine64 mono jjs rhino qjs d8 janet fennel raku dart electron
    cscript wscript clojure clj bb nbb spark-submit spark-shell pyspark mongo mongosh
    """
)
"""Some of them have subcommands as well; a rule names those, too."""
_HARMLESS: Final = re.compile(
    r"--?(?:version|versions|help|full-version|show-version|showversion|help-all|v8-options|[vVh?]+)"
)
_SAFE_SUBCOMMANDS: Final = {"dart": names("analyze format doc pub fix info test help create")}
_NAMING: Final = names(
    "-m -jar -l -c --check --test -f -cp -classpath --class-path --module -syntax-only --module-path"
)
"""Options that determine how the file after them is used."""
_PROMPTING: Final = names(
    "psql mysql mariadb redis-cli sqlite3 duckdb tmux screen byobu ftp sftp telnet mongo mongosh"
)
"""Programs that run other programs at their prompt, and the options that give them something else to do."""
_NOT_PROMPTING: Final = re.compile(
    r"-[A-Za-z]*[cefl]|--(?:command|file|execute|eval|list)(?:=|$)|-V|--?(?:version|help)|-\?"
)
_MODULE: Final = re.compile(r"-[A-Za-z]*m|--module(?:=|$)|-m\w")


def unnamed_script(
    words: Sequence[str], named: int, options: Sequence[str] = (), has_path: bool = False
) -> str | None:
    """What an interpreter would run that the rule does not name: a word, or its prompt.

    At a prompt it runs what the agent types, which is never asked about.
    """
    name = program(words[0])
    if len(words) == 1 and (name in INTERPRETERS or name in SHELLS or name in _PROMPTING):
        return "its prompt"
    if _prompts(name, words):
        return "its prompt"
    if name not in INTERPRETERS or not _NAMING.isdisjoint(words[1:named]):
        return None
    if any(not word.startswith("-") for word in words[1:named]):
        return None
    rest = [word for word in words[named:] if not _HARMLESS.fullmatch(word)]
    if not rest or rest[0] in _SAFE_SUBCOMMANDS.get(name, ()):
        return None
    if not _NAMING.isdisjoint(options) and not _NAMING.isdisjoint(rest):
        return None
    if not has_path:
        return rest[0]
    for word in rest:
        if not word.startswith("-"):
            return None  # the rule's path decides
        if _MODULE.match(word):
            return word
    return None


def _prompts(name: str, words: Sequence[str]) -> bool:
    """Whether a client of a database is given nothing to run."""
    if name in ("sqlite3", "duckdb"):
        operands = [word for word in words[1:] if not word.startswith("-")]
        return len(operands) < 2 and not any(map(_HARMLESS.fullmatch, words[1:]))
    if name in ("psql", "mysql", "mariadb"):
        return not any(map(_NOT_PROMPTING.match, words[1:]))
    return False
