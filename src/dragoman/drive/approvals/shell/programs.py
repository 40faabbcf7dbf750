"""What well-known programs do with their arguments: run them, evaluate them as code, or neither.

A program that is in none of these tables may do anything with its arguments. Deny rules are matched against
them, too, but only as a possibility.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final


def names(text: str) -> frozenset[str]:
    """The words of a table."""
    return frozenset(text.split())


RESERVED: Final = names("! { } if then elif else while until do time coproc")
"""The shell's reserved words that precede a command."""

SHELLS: Final = names(
    """
    sh bash rbash zsh dash ksh mksh ksh93 fish ash csh tcsh elvish nu xonsh pwsh powershell pwsh-preview cmd
    """
)

_NO_OPERAND: Final = """
    exec command builtin env sudo doas pkexec su-exec setpriv capsh nohup nice ionice setsid stdbuf unbuffer watch
    xargs parallel entr busybox toybox unshare nsenter bwrap firejail proot fakeroot setarch
    linux32 linux64 i386 x86_64 prlimit systemd-run systemd-inhibit start-stop-daemon daemonize tini dumb-init trap
    eval source . strace ltrace gdb lldb valgrind perf hyperfine catchsegv rlwrap expect script tsocks torsocks torify
    proxychains proxychains4 npx bunx pnpx uvx pipx chronic ts tsp nq dbus-run-session xvfb-run socat nc ncat netcat
    osascript open xdg-open start arch caffeinate winpty cygstart rundll32 wmic forfiles mshta call noglob nocorrect -
    repeat gtime envdir run0 crontab at batch ssh-agent keychain mpirun mpiexec srun watchexec nodemon reflex
    concurrently cross-env cross-env-shell env-cmd dotenv dotenvx direnv aws-vault chpst softlimit with-contenv ionotify
    screen byobu dtach abduco ld.so iex invoke-expression start-process invoke-command saps icm nix-shell numactl
    cgexec snap flatpak wsl ansible sem detach daemon stap bpftrace uftrace rr sandbox-exec apptainer singularity
    newgrp sg
    """
_ONE_OPERAND: Final = """
    timeout gtimeout chrt taskset flock chroot su runuser gosu faketime ssh mosh autossh rsh sshpass setuidgid
    s6-setuidgid pssh pdsh clush lxc-attach schroot
    """
LAUNCHERS: Final = {
    **dict.fromkeys(_NO_OPERAND.split(), 0),
    **dict.fromkeys(_ONE_OPERAND.split(), 1),
}
"""Programs that run a command given as arguments, after this many other arguments."""

_RUN_EXEC: Final = frozenset(("run", "exec"))
SUBCOMMANDS: Final = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), names("exec x dlx create init explore")),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _RUN_EXEC | {"debug", "create"}),
    **dict.fromkeys(("kubectl", "oc", "lxc"), _RUN_EXEC | {"debug", "rsh"}),
    "rustup": frozenset(("run",)),
    "ip": frozenset(("exec",)),
    "cmake": frozenset(("-E",)),
    **dict.fromkeys(
        ("uv", "poetry", "pipenv", "pdm", "rye", "hatch", "conda", "mamba"), _RUN_EXEC | {"x"}
    ),
    **dict.fromkeys(
        ("micromamba", "bundle", "rbenv", "pyenv", "asdf", "mise", "volta", "fnm"),
        _RUN_EXEC | {"x"},
    ),
    "docker-compose": _RUN_EXEC,
    "nix": names("run shell develop"),
    "op": frozenset(("run",)),
    "doppler": frozenset(("run",)),
    "git": frozenset[str](),
    "tmux": names(
        """
    new new-session neww new-window splitw split-window send send-keys run run-shell if-shell if respawn-pane
    respawn-window display-popup popup pipe-pane bind bind-key set-hook source source-file command-prompt
    """
    ),
    "zellij": names("run action"),
    "vagrant": frozenset(("ssh",)),
    "multipass": frozenset(("exec",)),
    "go": frozenset(("run", "generate")),
    "cargo": frozenset(("watch",)),
    "heroku": names("run local:run run:detached run:inside"),
    "hub": frozenset(("alias",)),
    "gh": frozenset(("alias", "extension")),
    "perf": frozenset(("stat", "record", "trace")),
}
"""Programs that do so with some subcommands."""

_PLAIN_NAMES: Final = """
    find gfind fd fdfind
    echo printf true false : test [ [[ cd pushd popd pwd ls dir exa eza tree cat bat tac head tail less more wc nl
    sort uniq cut tr paste join comm column fold fmt rev expand tsort shuf seq yes sleep date cal uptime uname
    hostname whoami id groups who w users tty stty clear reset tput file stat du df free lsof ps pgrep pkill kill
    killall top htop touch mkdir rmdir rm cp mv ln chmod chown chgrp install mktemp readlink realpath basename
    dirname which whereis type hash alias unalias export declare typeset local readonly unset set shopt read
    mapfile readarray getopts shift return exit break continue wait jobs fg bg disown umask ulimit history fc
    grep egrep fgrep rg ag ack ugrep diff cmp patch colordiff delta jq yq xq sed gsed awk gawk mawk nawk tar gtar
    gzip gunzip zcat bzip2 xz zstd zip unzip 7z gh hub glab svn hg curl wget http https ping dig nslookup host
    ifconfig ip ss netstat traceroute rsync scp sftp ftp pip cargo rustc rustup go gofmt
    make gmake cmake ninja meson mvn gradle ant javac gcc g++ cc c++ clang clang++ ld as ar nm objdump strings
    python node nodejs deno ruby perl php lua luajit rscript r julia swift java git
    kotlin scala ghc runghc elixir erl pytest py.test unittest mypy pyright basedpyright ruff black isort flake8
    pylint eslint prettier tsc jest vitest mocha rspec phpunit brew apt apt-get dpkg yum dnf rpm pacman apk
    systemctl journalctl service dmesg mount umount dd hexdump xxd od md5sum sha1sum sha256sum sha512sum cksum
    base64 openssl gpg man info help apropos vim vi nvim nano emacs ed ex code sqlite3 psql mysql redis-cli mongo
    terraform tofu pulumi helm aws gcloud az for case select esac in fi done sponge tee function
    apply_patch applypatch remove-item get-childitem get-content set-content write-output write-host select-string
    """
PLAIN: Final = frozenset(_PLAIN_NAMES.split())
"""Programs whose arguments are not commands, except for the options in :mod:`dragoman.drive.approvals.shell.escapes.finding`."""

_CODE_LETTERS: Final = {
    **dict.fromkeys(("python", "pypy", "ipython", "expect", "psql"), "c"),
    **dict.fromkeys(
        ("ruby", "lua", "luajit", "rscript", "r", "bun", "mysql", "osascript", "groovy"), "e"
    ),
    **dict.fromkeys(("scala", "elixir", "ghc", "guile", "racket", "clojure", "clj", "jshell"), "e"),
    **dict.fromkeys(
        ("gnuplot", "kotlin", "raku", "bb", "nbb", "qjs", "d8", "iex", "dc", "tclsh"), "e"
    ),
    **dict.fromkeys(("octave", "sbcl", "clisp", "ecl", "mongo", "mongosh"), ""),
    **dict.fromkeys(("perl", "julia"), "eE"),
    **dict.fromkeys(("node", "nodejs"), "ep"),
    **dict.fromkeys(("vim", "vi", "nvim", "ex"), "cS"),
    "php": "rBRE",
    "lldb": "oO",
    "man": "PH",
    "gdb": "",
    "sqlite3": "",
    "erl": "",
    "emacs": "",
    "make": "",
    "gmake": "",
    "less": "",
    "more": "",
    "deno": "",
}
"""Programs that run code given as arguments, and the options that precede it."""
_CODE_OPTION: Final = re.compile(
    r"--(?:eval|exec|execute|print|command|cmd|run|expr|pager|batch)\b|-(?:ex|eval|eval-command|cmd|init)$|eval$|\+."
)
_SCRIPTED: Final = names(
    """
    python pypy ruby perl node nodejs deno php lua luajit rscript r julia tclsh osascript elixir irb
    """
)
"""Interpreters that read code from standard input without other arguments."""
_CODE_MODULES: Final = names("timeit pdb code")
_FED: Final = names("ed ex gdb lldb sqlite3 psql mysql ftp sftp telnet nc ncat")
"""Programs that read commands of their own from standard input, one of which runs programs."""
_SHELL_BY_DEFAULT: Final = names(
    "su ssh mosh chroot nsenter unshare runuser script screen sudo doas wsl newgrp sg"
)
_SCRIPT_READERS: Final = names("source . at batch crontab parallel iex invoke-expression")
_MAKES_INPUT: Final = re.compile(r"(?:-[A-Za-z]*f|--(?:make)?file=)(?:-|/dev/stdin)")
_FINDERS: Final = names("find gfind fd fdfind")
_FIND_RUNS: Final = re.compile(r"-(?:exec|ok)")
_FD_RUNS: Final = re.compile(r"-[a-zA-Z]*[xX]|--exec")
_GIT_EXEC: Final = re.compile(r"-[a-z]*x|--ex")
_AWKS: Final = names("awk gawk mawk nawk")
_VERSIONED: Final = re.compile(r"(python|pypy|ruby|perl|php|lua|node|pip)[-\d.]+$")
_SAME: Final = {
    "hub": "git",
    "sudoedit": "sudo",
    "npm-cli.js": "npm",
    "npx-cli.js": "npx",
    "microk8s.kubectl": "kubectl",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "gradlew.bat": "gradle",
    "mvnw.cmd": "mvn",
    **{
        f"g{name}": name
        for name in names(
            "rm cp mv ln dd tee cat env xargs nice nohup stdbuf chroot chmod chown install shred truncate"
        )
    },
}
"""Other names: hub is git with more commands, gradlew loads gradle first, and grm is the rm of GNU on a Mac."""
_SED_PLAIN: Final = re.compile(
    r"(?:\d+|\$|/[^/]*/)?(?:,(?:\d+|\$|/[^/]*/))?[pdq=]"
    r"|s([/|,#@])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiI0-9]*"
)


def program(word: str) -> str:
    """The name of a program without its directory, in lower case.

    ``=name`` is zsh's spelling of a path, and ``python3.12`` counts as ``python``.
    """
    name = re.split(r"[/\\]", word.removeprefix("="))[-1].casefold().removesuffix(".exe")
    found = _VERSIONED.match(name)
    if found:
        return found[1]
    return _SAME.get(name, name)


def inner_operands(words: Sequence[str]) -> int | None:
    """How many arguments a launcher takes before its command; None if it is not a launcher."""
    name = program(words[0])
    if name in SHELLS or name in RESERVED or name.startswith("ld-linux"):
        return 0
    if name in _FINDERS:
        running = _FIND_RUNS if name in ("find", "gfind") else _FD_RUNS
        runs = any(running.match(word) for word in words[1:])
        return 0 if runs else None
    if name in LAUNCHERS:
        return LAUNCHERS[name]
    if name == "git":
        return _git_operands(words)
    found = SUBCOMMANDS.get(name, frozenset[str]()).intersection(words[1:])
    if not found:
        return None
    has_image = name in ("docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "docker-compose")
    return 2 if has_image else 1


def _git_operands(words: Sequence[str]) -> int | None:
    """The subcommands of git that run commands, some only with an option."""
    given = set(words[1:])
    if given & {"filter-branch", "for-each-repo"}:
        return 1
    if {"bisect", "run"} <= given or {"submodule", "foreach"} <= given or {"hook", "run"} <= given:
        return 2
    is_running = given & {"rebase", "difftool"} and any(_GIT_EXEC.match(word) for word in words)
    return 1 if is_running else None


def is_unknown(words: Sequence[str]) -> bool:
    """Whether it is unknown what this program does with its arguments."""
    name = program(words[0])
    return name not in PLAIN and name not in SUBCOMMANDS and inner_operands(words) is None


def runs_code(words: Sequence[str]) -> bool:
    """Whether these words contain code for an interpreter."""
    name = program(words[0])
    if name in _AWKS:
        return any(
            re.search(r"system|\||getline|@\s*\w|>|ARGV|ENVIRON", word) for word in words[1:]
        )
    if name in ("sed", "gsed"):
        return not _is_plain_sed(words[1:])
    letters = _CODE_LETTERS.get(name)
    if letters is None:
        return False
    if name == "sqlite3" and any(re.match(r"\s*\.", word) for word in words[2:]):
        return True
    after_option = False
    for word in words[1:]:
        if _CODE_OPTION.match(word):
            return True
        if word.startswith("-") and len(word) > 1 and word != "--":
            bundle = re.match(r"-([A-Za-z]*)", word)
            if bundle and any(letter in bundle[1] for letter in letters):
                return True
            if name in ("python", "pypy") and "m" in word[1:2]:
                # The rest are arguments of the module, which may be code.
                return not _CODE_MODULES.isdisjoint((*words, word[2:]))
            after_option = True
        elif after_option:
            after_option = False
        elif name in _SCRIPTED:
            return False  # a script file; the rest are its arguments
    return False


def has_code_operand(words: Sequence[str]) -> bool:
    """Whether an operand contains code, which a list of permitted options does not cover."""
    name = program(words[0])
    if name in ("sed", "gsed"):
        if any(re.match(r"-[a-zA-Z]*f|--file", word) for word in words[1:]):
            return False
        kept = re.compile(r"[^-]|-[nErsuz]*e$|--expression|-$")
        return not _is_plain_sed([word for word in words[1:] if kept.match(word)])
    if name == "sqlite3":
        return runs_code([word for word in words if not word.startswith("-")])
    return name in _AWKS and runs_code(words)


def reads_script(words: Sequence[str]) -> bool:
    """Whether this program runs its standard input."""
    name = program(words[0])
    operands = [word for word in words[1:] if not word.startswith("-") or word == "-"]
    if name in SHELLS or name in _SCRIPT_READERS:
        return True
    if name in _SHELL_BY_DEFAULT or name in _FED:
        return True
    if name in ("make", "gmake"):
        return "-" in operands or any(_MAKES_INPUT.fullmatch(word) for word in words[1:])
    if name in _SCRIPTED:
        return not operands or operands[0] in ("-", "/dev/stdin")
    return any(operand in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0") for operand in operands)


def is_interpreter(words: Sequence[str]) -> bool:
    """Whether the scripts that this program reads are not shell scripts."""
    name = program(words[0])
    return name in _SCRIPTED or name in _FED or name in ("make", "gmake")


def _is_plain_sed(words: Sequence[str]) -> bool:
    """Whether the expressions of sed run and write nothing."""
    scripts: list[str] = []
    others: list[str] = []
    is_next = False
    for word in words:
        if is_next:
            scripts.append(word)
            is_next = False
        elif re.fullmatch(r"-[nErsuz]*e|--expression", word):
            is_next = True
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif re.match(r"-.", word):
            if not re.fullmatch(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|null-data)?", word):
                return False
        else:
            others.append(word)
    scripts += [] if scripts else others[:1]
    return all(_SED_PLAIN.fullmatch(script) for script in scripts)
