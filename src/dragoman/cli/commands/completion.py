"""``dragoman completion``: prints the script that completes our commands in a shell."""

from __future__ import annotations

from dragoman.cli import lazy_click as click

_SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print a completion script for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> int:
    """Print a script that lets SHELL complete commands, options, formats, dialects and sessions.

    \b
    eval "$(dragoman completion bash)"       # in ~/.bashrc
    eval "$(dragoman completion zsh)"        # in ~/.zshrc, after compinit
    dragoman completion fish | source        # in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from dragoman.cli.main import dragoman

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(dragoman, {}, "dragoman", "_DRAGOMAN_COMPLETE").source())
    return 0
