"""The command `eris`: finds the subcommand and loads only that one."""

import importlib
import os
import sys
from pathlib import Path
from typing import Final, NoReturn

import click

from eris.cli import failure
from eris.cli.invocation import Invocation
from eris.errors import ErisError

COMMANDS: Final = {
    # Name: module, attribute, summary for `eris --help` (which imports none of them).
    "init": ("eris.cli.init", "init", "Make a vault, or adopt an existing folder of notes."),
    "up": ("eris.cli.system", "up", "Start the system of a vault."),
    "console": ("eris.cli.console", "console", "Open the chat in this terminal."),
    "ask": ("eris.cli.ask", "ask", "Ask one thing and print the answer."),
    "vault": ("eris.cli.vault", "vault", "Read, search and change notes, without a model."),
    "undo": ("eris.cli.vault", "undo", "Take back what was done last to notes."),
    "memory": ("eris.cli.memory", "memory", "Search what is known, and keep facts."),
    "doc": ("eris.cli.memory", "doc", "Take documents in, search and read them."),
    "agenda": ("eris.cli.agenda", "agenda", "Keep tasks and reminders, and see when they fire."),
    "status": ("eris.cli.system", "status", "Show every process of the running system."),
    "restart": ("eris.cli.system", "restart", "Restart one process."),
    "logs": ("eris.cli.system", "logs", "Show the log of a process."),
    "down": ("eris.cli.system", "down", "Stop the system of a vault."),
    "models": ("eris.cli.models", "models", "List, download and remove models."),
    "config": ("eris.cli.config", "config", "Show, check and change settings."),
    "grammar": ("eris.cli.grammar", "grammar", "Show and check the grammars of tools."),
    "peer": ("eris.cli.peer", "peer", "Let other machines connect to this vault."),
    "doctor": ("eris.cli.doctor", "doctor", "Look for problems and say how to fix them."),
    "install-service": (
        "eris.cli.system",
        "install_service",
        "Write a service unit that starts the system at login.",
    ),
    "completion": ("eris.cli.completion", "completion", "Print the shell's completion script."),
}

_EXAMPLES = """\b
Examples:
  eris init ~/notes && eris up --vault ~/notes
  eris ask --vault ~/notes "Save a note in todo.md saying that I should buy milk."
  eris console --vault ~/notes
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they're used, so that help stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands from the table, importing nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # noqa: PLC0415 - needed for mistakes only

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            meant = f" Did you mean `eris {near[0]}`?" if near else ""
            raise click.UsageError(f"There is no command {name!r}.{meant}", ctx)
        return super().resolve_command(ctx, args)


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow

        try:
            found = version("eris-agent")
        except PackageNotFoundError:
            found = "(not installed)"
        click.echo(f"eris {found}")
        context.exit()


def _overrides(pairs: tuple[str, ...]) -> dict[str, str]:
    overrides = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes KEY=VALUE, not {pair!r}.")
        overrides[key.strip()] = value.strip()
    return overrides


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EXAMPLES,
)
@click.option(
    "--vault",
    metavar="PATH",
    help="The vault to use (default: ERIS_VAULT, or the one around this folder).",
)
@click.option("--config", metavar="PATH", help="Settings file, or folder of them, to use.")
@click.option(
    "--set", "pairs", metavar="KEY=VALUE", multiple=True, help="Override a setting for this run."
)
@click.option("--no-color", is_flag=True, help="Print without colours (also: NO_COLOR=1).")
@click.option(
    "-V",
    "--version",
    is_flag=True,
    callback=_print_version,
    expose_value=False,
    is_eager=True,
    help="Print the version.",
)
@click.pass_context
def cli(
    context: click.Context,
    vault: str | None,
    config: str | None,
    pairs: tuple[str, ...],
    no_color: bool,
) -> None:
    """Eris, a personal agent over your folder of Markdown notes.

    It runs a small language model on this machine; nothing leaves it.
    """
    environ = dict(os.environ)
    if config is not None:
        environ["ERIS_CONFIG"] = str(Path(config).expanduser().absolute())
    color = not no_color and not environ.get("NO_COLOR") and sys.stdout.isatty()
    if not color:
        environ["NO_COLOR"] = "1"
    context.color = color
    context.obj = Invocation(
        environ=environ,
        cwd=Path.cwd(),
        vault_option=vault,
        overrides=_overrides(pairs),
        color=color,
    )
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; every error is reported here, once."""
    as_json = "--json" in arguments
    try:
        result = cli.main(arguments, prog_name="eris", standalone_mode=False)
    except ErisError as error:
        return failure.report(error, as_json=as_json)
    except click.ClickException as error:
        return failure.report_usage(error, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return failure.EXIT_INTERRUPTED
    except BrokenPipeError:
        failure.silence_stdout()
        return failure.EXIT_OK
    return result if isinstance(result, int) else failure.EXIT_OK


def main() -> NoReturn:
    """Entry point of the script `eris`."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
