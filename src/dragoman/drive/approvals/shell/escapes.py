"""Options by which a harmless program runs another one, writes a file or goes elsewhere.

A rule that allows ``rg`` means searching, and not ``rg --pre sh``. So these are not covered by the name of
their program: a rule has to name them, in its ``command`` or in its ``options``. The table holds programs
that people allow; it is a help, and no promise that every option of every program is in it. To be certain,
let the rule name the options it permits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from dragoman.drive.approvals.shell.programs import names, program

_GIT: Final = (
    "--output --ext-diff --textconv --open-files-in-pager --upload-pack --receive-pack --exec --extcmd --no-index"
    " --template --config --config-env --exec-path --git-dir --work-tree --separate-git-dir --output-directory --in-place"
    " --filters --contents --unsafe-paths --directory --export-marks --fsmonitor --web --stdin-paths --index-output --prefix"
)
_OPTIONS: Final[dict[str, str]] = {
    "git": _GIT,
    "rg": "--pre --pre-glob --hostname-bin -z --search-zip --file -f --ignore-file",
    "fd": "-x --exec -X --exec-batch -L",
    "fdfind": "-x --exec -X --exec-batch -L",
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
    "gfind": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
    "sort": "-o --output --compress-program -T --temporary-directory --files0-from",
    "shuf": "-o --output",
    "tree": "-o --fromfile -R",
    "wc": "--files0-from",
    "du": "--files0-from",
    "file": "-m --magic-file -C --compile -f --files-from -z",
    "date": "-s --set -f --file",
    "man": "-P --pager -H --html -C --config-file",
    "less": "-o -O -k -K --lesskey-file --log-file",
    "bat": "--pager --diff",
    "diff": "--output --to-file --from-file",
    "grep": "-f --file",
    "tar": (
        "-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command"
        " --rmt-command -C --directory -P --absolute-names --files-from -T"
    ),
    "zip": "-T -TT --unzip-command",
    "rsync": "-e --rsh --rsync-path",
    "scp": "-S -o",
    "sftp": "-S -o -D -b",
    "curl": "-o -O --output --output-dir --remote-name -K --config -T --upload-file -d --data --data-binary -F --form"
    " --remote-header-name -J -c --cookie-jar --dump-header -D --trace --trace-ascii --libcurl --create-dirs",
    "wget": "-O -o --output-document --output-file -e --execute --use-askpass --post-file --body-file -i --input-file -P"
    " --directory-prefix --config",
    "make": "-f --file --makefile -C --directory --eval -I --include-dir -E",
    "gmake": "-f --file --makefile -C --directory --eval -I --include-dir -E",
    "ninja": "-C -f",
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), "-wrapper -B -fplugin"),
    "cmake": "-P -E -C -D --toolchain",
    "cargo": "--config --manifest-path -C -Z",
    "go": "-exec -toolexec -C -overlay -vettool -modfile",
    "npm": "--prefix -C --script-shell --node-options --userconfig --globalconfig --call -c --git"
    " --editor --viewer --shell",
    "kubectl": "--kubeconfig",
    "helm": "--kubeconfig --post-renderer",
    **dict.fromkeys(
        ("vim", "vi", "nvim", "view", "ex"), "-c -S -s -u -U -i -w -W -r --cmd --remote -V"
    ),
    "pnpm": "--prefix -C --dir --shell-mode -c",
    "yarn": "--cwd --use-yarnrc",
    "pip": "--prefix --target -t --root --config-settings --global-option --build-option --index-url -i --extra-index-url",
    "pytest": "-p --rootdir -c --config-file --confcutdir --import-mode -o --override-ini --basetemp --junitxml --pdbcls",
    "python": "-c -",
    "node": "-e --eval -p --print -r --require --import --loader --experimental-loader - --inspect --inspect-brk --env-file"
    " --inspect-wait --openssl-config --snapshot-blob --experimental-config-file --diagnostic-dir --cpu-prof --heap-prof"
    " --redirect-warnings --report-dir --report-on-fatalerror",
    "ruby": "-e -r -",
    "perl": "-e -E -M -I -",
    "php": "-r -d -B -R -E",
    "lua": "-e -l -",
    "deno": "--allow-all -A",
    "jq": "-f --from-file -L --rawfile --slurpfile",
    "sed": "-i --in-place -f --file",
    **dict.fromkeys(
        ("awk", "gawk", "mawk", "nawk"),
        "-f --file -i --include -l --load -E --exec -D --debug -d --dump-variables -o --pretty-print -p --profile -W",
    ),
    "ssh": "-o -F -E -I",
    "journalctl": "--file --root --directory -D",
    "eslint": "--fix -c --config --rulesdir --resolve-plugins-relative-to -o --output-file -f --format --parser --plugin",
    "prettier": "--write -w --plugin --config",
    "tsc": "-p --project --outDir --outFile --build -b",
    "mypy": "--config-file --install-types --python-executable",
    "ruff": "--config --output-file -o",
    "black": "--config",
    "xxd": "-r",
    "openssl": "-engine -out -config",
    "sqlite3": "-cmd -init",
    "psql": "-c -f -o --command --file --output",
    "docker": "-v --volume --mount --privileged -H --host --config",
    "systemctl": "-H --host --root",
    "jest": "-c --config --rootDir --globalSetup",
    "vitest": "-c --config -r --root",
}
_GIT_GLOBAL: Final = frozenset(
    ("--no-pager", "-P", "--no-optional-locks", "--version", "--help", "-v", "-h")
)
_GIT_COMMANDS: Final = names(
    """
    add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree
    config count-objects describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch
    fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck gc get-tar-commit-id
    grep gui hash-object help hook init index-pack instaweb interpret-trailers log ls-files ls-remote ls-tree
    mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-tree mergetool mktag mktree
    multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed pull
    push range-diff read-tree rebase reflog remote repack replace replay request-pull rerere reset restore
    rev-list rev-parse revert rm send-email send-pack shortlog show show-branch show-index show-ref
    sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects
    update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack
    verify-tag version whatchanged worktree write-tree
    """
)
_GIT_RUNNING: Final = names(
    """
    bisect config difftool mergetool filter-branch for-each-repo hook instaweb send-email submodule gui daemon
    upload-pack upload-archive fast-import maintenance merge-index archive bundle
    """
)
"""Commands of git that run others, or that say what others will run."""
_FULL_NAMES: Final = frozenset(("--text", "--co"))


def escape(words: Sequence[str], named: int = 1) -> str | None:
    """The first word that the program's name does not cover; ``named`` words stand in the rule itself."""
    words = list(words)
    name = program(words[0])
    if name == "git" and (found := _git_escape(words, named)) is not None:
        return found
    if name == "python" and words[1:2] == ["-m"] and len(words) > 2:
        # The rest are words for the module.
        return escape(words[2:], max(named - 2, 1))
    options = _OPTIONS.get(name, "").split()
    for at, word in enumerate(words[named:], named):
        # The options of tar need no dash in the first place.
        bundle = f"-{word}" if name in ("tar", "gtar") and at == 1 and word[:1] != "-" else word
        if any(_is_option(bundle, option) for option in options):
            return word
        if name in ("make", "gmake") and "=" in word:
            return word
    return None


def has_escapes(words: Sequence[str]) -> bool:
    """Whether some options of the program are such."""
    return program(words[0]) in _OPTIONS


def command_values(words: Sequence[str]) -> Iterator[str]:
    """The values of such options, which may be commands."""
    options = _OPTIONS.get(program(words[0]), "").split()
    for at, word in enumerate(words[1:], 1):
        if any(_is_option(word, option) for option in options):
            name, equals, value = word.partition("=")
            if equals:
                yield value.removeprefix("exec=")
            elif len(name) > 2 and not name.startswith("--"):
                yield name[2:]
            for after in words[at + 1 : at + 2]:
                yield after
                yield after.replace(",", " ")  # gcc -wrapper rm,-rf


def is_git_command(word: str) -> bool:
    """Whether git has this command itself, so that no alias can take its place."""
    return word in _GIT_COMMANDS


def _git_escape(words: Sequence[str], named: int) -> str | None:
    if named == 1:
        at = 1
        while at < len(words) and words[at].startswith("-"):
            if words[at] not in _GIT_GLOBAL:
                return words[at]
            at += 1
        if at < len(words) and (words[at] not in _GIT_COMMANDS or words[at] in _GIT_RUNNING):
            return words[at]
    sub = next((word for word in words[1:] if not word.startswith("-")), "")
    short = {
        "grep": "O",
        "rebase": "x",
        "clone": "uc",
        "difftool": "x",
        "fetch": "u",
        "format-patch": "o",
    }.get(sub, "")
    for word in words[max(named, 2) :]:
        if any(sign in word[1:] for sign in short) and re.match(r"-[A-Za-z]", word):
            return word
        if "ext::" in word or "fd::" in word:
            return word
    return None


def _is_option(word: str, option: str) -> bool:
    """Whether a word is this option: with a value, shortened, or together with others."""
    if word == option:
        return True
    name = word.partition("=")[0]
    if option.startswith("--"):
        is_short = len(name) > 2 and name not in _FULL_NAMES and option.startswith(name)
        return name == option or is_short
    if len(option) > 2 or not re.match(r"-[^-]", word) or len(option) < 2:
        return name == option
    return option[1] in re.sub(r"[^A-Za-z].*", "", word[1:])
