"""The subcommands of programs that run any other word as a program or plug-in of that name.

``kubectl tree`` runs ``kubectl-tree``, and ``cargo x`` runs ``cargo-x``: a rule for ``kubectl`` does not cover them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dragoman.drive.approvals.shell.escapes.subcommands import operands
from dragoman.drive.approvals.shell.programs import names

_KUBECTL: Final = """
    create expose run set explain get edit delete rollout scale autoscale certificate cluster-info top cordon uncordon drain
    taint describe logs attach exec port-forward proxy cp auth debug events diff apply patch replace wait kustomize label
    annotate completion api-resources api-versions config version options help
"""
_CONDA: Final = """
    activate clean commands compare config create deactivate env export info init install list notices package remove rename
    run search uninstall update upgrade repoquery shell help
"""
_TABLE: Final = {
    "kubectl": _KUBECTL,
    "oc": f"{_KUBECTL} login logout project projects status new-app new-project process rsh rsync start-build whoami adm"
    " import-image new-build policy registry secrets tag extract image idle observe rollback cancel-build",
    "cargo": """
        b build c check clean clippy d doc fetch fix fmt t test r run rm add remove update search tree metadata bench init new
        vendor verify-project version generate-lockfile locate-project package pkgid read-manifest report rustc rustdoc
        info install uninstall publish login logout owner yank config help
    """,
    "docker": """
        run exec ps build bake pull push images login logout search version info builder buildx compose container context image
        manifest network plugin system volume trust swarm config node service stack attach commit cp create diff events
        export history import inspect kill load logs pause port rename restart rm rmi save start stats stop tag top unpause
        update wait help
        secret
    """,
    "helm": """
        completion create dependency dep env get history hist install lint list ls package plugin pull fetch push registry repo
        rollback search show inspect status template test uninstall un delete upgrade verify version help
    """,
    "gh": """
        auth browse codespace cs gist issue org pr project release repo cache run workflow alias api attestation completion config
        secret
        extension extensions ext gpg-key label preview ruleset rs search ssh-key status variable help version
    """,
    "brew": """
        install uninstall rm remove list ls search info abv update up upgrade outdated deps uses doctor dr cleanup link ln unlink
        pin unpin tap untap home config desc leaves log missing services bundle autoremove cat fetch reinstall options commands
        edit sh ruby irb help style audit test analytics formulae casks shellenv
    """,
    "bundle": """
        install i update cache pack exec e config help add binstubs check clean console c doctor env fund gem info init issue
        licenses list ls lock open outdated package platform plugin pristine remove show version viz
    """,
    "stack": """
        bench build clean config docker dot eval exec ghc ghci haddock hoogle hpc ide init install list ls new nix path purge
        query repl run runghc runhaskell script sdist setup templates test uninstall unpack update upgrade upload
    """,
    "cabal": """
        bench build check clean configure exec fetch format freeze gen-bounds get haddock haddock-project help info init install
        list list-bin outdated path repl report run sdist target test unpack update upload user-config v1-build v1-test v1-run
        v2-build v2-test v2-run v2-bench v2-haddock v2-install v2-freeze v2-configure v2-clean v2-sdist v2-update
        new-build new-test new-run new-bench new-haddock new-install new-freeze new-configure new-clean new-sdist new-update
    """,
    "crystal": "init build clear_cache docs env eval i interactive play playground run spec tool help version",
    "poetry": """
        about add build cache check config debug env export help init install list lock new publish remove run search self shell
        show source sync update version
    """,
    **dict.fromkeys(("conda", "mamba", "micromamba"), _CONDA),
    "dotnet": """
        add build build-server clean dev-certs exec format fsi help list msbuild new nuget pack package publish reference remove
        restore run sdk sln solution store test tool user-secrets vstest watch workload script
    """,
    "swift": "build test run package help format sdk",
    "deno": """
        add bench cache check ci clean compile completions coverage doc fmt help i info init install jupyter lint lsp
        outdated publish remove repl run serve task test types uninstall update upgrade eval x
    """,
    "pass": "init ls list grep find search show insert add edit generate rm remove delete mv rename cp copy git help version",
    "vagrant": """
        autocomplete box cloud destroy global-status halt help init login package plugin port powershell provision push rdp
        reload resume snapshot ssh ssh-config status suspend up upload validate version winrm winrm-config
    """,
}
_BUILTINS: Final = {name: names(table) for name, table in _TABLE.items()}
_TOOLS: Final = names(
    "addr2line asm buildid cgo compile covdata cover dist distpack doc fix link nm objdump pack pprof test2json trace vet"
)


def added_subcommand(name: str, words: Sequence[str], named: int) -> str | None:
    """The subcommand that is not the program's own, if the rule's ``named`` words do not include it."""
    if name == "go" and list(words[1:2]) == ["tool"] and len(words) > 2 and named < 3:
        return None if words[2] in _TOOLS or words[2].startswith("-") else words[2]
    known = _BUILTINS.get(name)
    if known is None:
        return None
    places = [at for at in operands(words) if not words[at].startswith("+")]
    if not places or not known.isdisjoint(words[at] for at in places):
        return None
    return words[places[-1]] if places[-1] >= named else None
