"""Recognize long options that run something, load code, or choose a file or directory, by their name.

No table lists every option of every program, but most options describe themselves: ``--init-hook``,
``--diff-cmd``, ``--load-plugins``, ``--rcfile``, ``--output-dir``. Their value decides what happens, so the name
of the program does not cover them.
"""

from __future__ import annotations

import re
from typing import Final

from dragoman.drive.approvals.shell.escapes.options import EXACT
from dragoman.drive.approvals.shell.programs import names

_SEGMENT: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_ANYWHERE: Final = names(
    """
    exec execute execdir eval evaluate hook hooks plugin plugins preload preset presets loader agent javaagent askpass rsh
    bootstrap command cmd shell interpreter launcher prehook posthook editor pager browser viewer javaagent linker
    """
)
_LAST: Final = names(
    """
    script program programs executable compiler toolchain wrapper engine provider config conf cfg rc settings init setup
    require import library output out outfile directory root prefix cwd chdir home path folder module modules worker
    """
)
_ENDINGS: Final = ("file", "dir", "path")
_PATH_VALUES: Final = names(
    """
    reporter reporters formatter format parser runner environment env transform ui resolver processor sequencer adapter
    template theme rules rule target include extension extensions driver backend handler serializer resolver syntax
    """
)
"""Options whose value is a built-in name or a file with code."""
_INNOCENT_START: Final = re.compile(
    r"--(?:no|show|print|list|exclude|ignore|skip|without|disable|with-filename|group|sort|hide|only|warn)(?:-|(?=[A-Z])|$)"
)
_INNOCENT: Final = names(
    """
    --user-agent --profile --full-path --absolute-path --relative-path --first-path --strip-path --src-prefix --dst-prefix
    --line-prefix --log-prefix --directory-only --no-prefix --show-prefix --module --files --git-path --directory-prefix-only
    --command-line --multiple-commands --output-on-failure --output-sync --files-with-matches --import-mode --log-file-level
    --log-file-format --initial-branch --no-init --coverprofile --coverageprofile --preset-list --agent-less
    --frozen-lockfile --junit-prefix --var-file --is-inside-git-dir
    --output-indicator-new --output-indicator-old --output-indicator-context
    """
)
_FORMATS: Final = names(
    """
    json jsonl ndjson yaml yml text txt table tsv csv xml wide name toml plain none off on auto default full concise grouped
    short long github gitlab junit sarif pylint html markdown md human compact detailed summary
    quiet normal verbose errors all streamed
    """
)
_ABBREVIATED: Final = tuple(
    name
    for name in sorted(_ANYWHERE | _LAST)
    if len(name) > 5 and name not in ("modules", "worker", "library", "engine")
)
_COMPLETE: Final = names("load edit page view tool comp work boot prog dire sett prov")
"""Words of their own that abbreviate nothing."""
_OPERANDS_FIRST: Final = names(
    """
    python pypy ipython ruby perl php lua luajit node nodejs deno java rscript julia tclsh elixir make gmake ls find gfind
    test [ echo printf grep egrep fgrep awk gawk mawk nawk sed gsed docker
    """
)
"""Programs with a complete table, or whose options end at the name of a script."""
_FINE: Final = {
    "ls": ("--directory",),
    "cmake": ("--config",),
    "ctest": ("--build-config",),
    "dotnet": ("--configuration",),
    "cargo": ("--lib", "--target"),
    "rustup": ("--target",),
    "gradle": ("--configuration", "--target"),
    "git": ("--format", "--init"),
}


def is_telling(name: str, word: str, value: str | None) -> bool:
    """Whether the name of a long option marks it. ``value``: the next word, if it may be the value."""
    option, equals, given = word.partition("=")
    if not option.startswith("--") or len(option) < 4 or name in _OPERANDS_FIRST:
        return False
    if option in _INNOCENT or option in _FINE.get(name, ()) or _INNOCENT_START.match(option):
        return False
    chosen = given if equals else value or ""
    segments = [segment.lower() for segment in _SEGMENT.findall(option)]
    if not segments:
        return False
    last = segments[-1]
    if last in ("output", "format", "reporter") and chosen.split("=")[0].lower() in _FORMATS:
        return False
    if not _ANYWHERE.isdisjoint(segments) or last in _LAST:
        return True
    may_abbreviate = len(last) > 3 and last not in _COMPLETE and name not in EXACT
    if may_abbreviate and any(each.startswith(last) for each in _ABBREVIATED):
        return True
    if any(last.endswith(ending) for ending in _ENDINGS) and not last.endswith("profile"):
        return True
    return last in _PATH_VALUES and bool(re.search(r"[/\\]|^\.", chosen))
