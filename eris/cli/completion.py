"""`eris completion`: the script that teaches a shell to complete `eris`."""

import click
from click.shell_completion import get_completion_class

from eris.cli.invocation import example
from eris.errors import InvalidError

SHELLS = ("bash", "zsh", "fish")


@example("eris completion bash > ~/.local/share/bash-completion/completions/eris")
@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise InvalidError(f"There is no completion for {shell}.")
    click.echo(kind(context.find_root().command, {}, "eris", "_ERIS_COMPLETE").source())
