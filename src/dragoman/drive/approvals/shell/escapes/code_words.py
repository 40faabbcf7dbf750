"""Words that contain code, name something to load, or a place to write, by program.

They need no option: a statement of SQL, an address of a package, an expression of jq, a file format that runs
its content.
"""

from __future__ import annotations

import re
from typing import Final

_PACKAGE: Final = (
    r"^(?:[\w.@/-]+(?:\[[^\]]*\])?\s*@\s*)?"
    r"(?:git\+|git@|git:|https?:|ssh:|file:|link:|portal:|exec:|patch:|github:|gitlab:|bitbucket:|gist:|oci:)"
)
"""The address of a package that no registry holds."""
_PACKAGERS: Final = "npm pnpm yarn bun pip uv poetry pdm pipenv helm docker podman nerdctl"
_IMAGE: Final = (
    r"^(?:msl|ephemeral|label|caption|text|inline|https?|url|pango|mvg|svg|mpr|vid|ps|eps|show|win|x|scan|print|fd):"
    r"|^\w+:(?:[/~]|\.\.)|^[|@]|^-write$|^-process$"
)
_OUTSIDE: Final = r"(?:/(?!/)|~|(?:.*/)?\.\.(?:/|$))"
_MORE: Final = {
    "pnpm": r"^--config\.",
    "bun": r"^\./|\.[cm]?[jt]sx?$",
}

_PATTERNS: Final = {
    **dict.fromkeys(_PACKAGERS.split(), _PACKAGE),
    **{name: f"{_PACKAGE}|{pattern}" for name, pattern in _MORE.items()},
    "sqlite3": r"load_extension|writefile|readfile|\bedit\s*\(|\battach\b|vacuum\s+into|fts3_tokenizer",
    "yq": r"\bload(?:_\w+)?\s*\(|\bstrenv\b|\benvsubst\b|\benv\s*\(|\b(?:eval|system)\s*\(",
    "curl": (
        r"^(?:-H|--header=|-\w)?@|%output\{"
        r"|^(?:--url=)?(?:file|gopher|dict|ldaps?|s?ftp|scp|smbs?|telnet|tftp|imaps?|smtps?):"
    ),
    "convert": _IMAGE,
    "magick": _IMAGE,
    "ffmpeg": r"^-/|^-dump_attachment|^tee$|^(?:concat|subfile|https?|tcp|udp)[:,]|\b(?:ladspa|frei0r|lv2|movie)=",
    "pandoc": r"\.lua$|^\./",
    "kubectl": (
        r"^(?:-[fk]=?|--filename=|--kustomize=)?https?://|\?ref=|^(?:-k=?|--kustomize=)?(?:github|gitlab|bitbucket)\.\w+[/:]"
    ),
    "systemctl": r"^/",
    "date": r"^\d{8,}",
    "go": r"^--?w=",
    "jq": r"\$ENV\b|\benv\b|\b(?:import|include)\s*[\"']|\binput_line_number\s*@",
    "ps": r"^[acefghjlrsuvwxmLSTXZ]*e[acefghjlrsuvwxmLSTXZ]*$",
    "gs": r"SAFER",
    "gh": r"^--$",
    "deno": r"^(?:https?|data|npm|jsr):",
    "zip": r"^-T",
    "split": r"^--f",
    "tar": r"^(?:--file=|-?[A-Za-z]*f)?[\w.@-]+:",  # an archive on another machine, reached by a program
    "pytest": rf"^(?:--cov-report=)?\w+:{_OUTSIDE}|^(?:-W|--pythonwarnings=)?\w*::\w+\.\w",
    "cmake": r"^[A-Za-z_.]+[:+?!]*=|^-f|^--(?:file|makefile)",  # arguments for make, after ``--``
    **dict.fromkeys(("cargo", "rustc", "rustdoc"), r"^\+.*[/\\]"),
    **dict.fromkeys(("stack", "cabal"), r"^--with-|-pgm|plugin|^--(?:docker|nix)-|-opt[FLP]"),
    **dict.fromkeys(("zig", "meson"), r"plugin|-wrapper"),
    "nim": r"\.(?:exe|linkerexe|path)[:=]",
    "bazel": (
        r"plugin|-wrapper|^--(?:@|per_file_copt|crosstool_top|compiler|sandbox_add_mount_pair|remote_executor|remote_cache"
        r"|bes_backend|strategy|spawn_strategy|profile=/)"
    ),
    "ctags": r"^--_|^--exclude=@",
    "just": r"^\w+=",
    "rake": r"^(?:PATH|SHELL|RUBY\w+|LD_\w+|GEM_\w+|BUNDLE_\w+|\w*(?:EDITOR|PAGER|COMMAND))=",
    "tmux": r"#\(|^default-(?:command|shell)$",
    "redis-cli": (
        r"^(?:eval|evalsha|eval_ro|script|function|fcall|module|slaveof|replicaof|debug|shutdown|migrate|acl)$|^rediss?://"
    ),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "vimdiff", "gvim"), r"^\w+://"),
    **dict.fromkeys(
        ("latex", "pdflatex", "xelatex", "lualatex", "tex", "pdftex", "luatex"),
        r"write18|\\(?:input|openin|openout|directlua)",
    ),
}
CODE_WORDS: Final = {
    name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()
}
