"""What every command knows: which vault, which settings, what the terminal can show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from eris.config import LoadedSettings, load_settings, variable_of
from eris.paths import Paths, find_vault, paths_for

C = TypeVar("C", bound=Callable[..., Any])
Command = TypeVar("Command", bound=click.Command)


@dataclass
class Invocation:
    """One run of `eris`; the click context's object."""

    environ: dict[str, str]
    """The environment, with what the global options change in it."""
    cwd: Path
    vault_option: str | None = None
    """What ``--vault`` said, before or after the command's name."""
    overrides: dict[str, str] = field(default_factory=dict)
    """What ``--set`` said, by dotted key."""
    color: bool = True

    def vault(self) -> Path:
        """Return the vault to work on.

        Raises:
            ConfigurationError: None is named, and there is none around the working directory.
        """
        return find_vault(self.vault_option, self.environ, self.cwd)

    def paths(self) -> Paths:
        """Return where the vault's files are.

        Raises:
            ConfigurationError: There is no vault, or it isn't a readable folder.
        """
        return paths_for(self.vault(), self.environ)

    def settings(self) -> LoadedSettings:
        """Return the settings of the vault, checked.

        Raises:
            ConfigurationError: A settings file or value is bad.
        """
        return load_settings(self.vault(), self.environ, self.overrides)

    def child_environment(self) -> Mapping[str, str]:
        """Return the environment for a process of Eris, so that it reads the same settings."""
        flags = {variable_of(key): value for key, value in self.overrides.items()}
        return self.environ | flags


pass_invocation = click.make_pass_decorator(Invocation)


def _remember_vault(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.find_object(Invocation).vault_option = value  # type: ignore[union-attr]


def vault_option(command: C) -> C:
    """Let a command take ``--vault`` too; `Invocation.vault` returns it."""
    return click.option(
        "--vault",
        metavar="PATH",
        callback=_remember_vault,
        expose_value=False,
        help="The vault to use (default: ERIS_VAULT, or the one around this folder).",
    )(command)


def json_option(command: C) -> C:
    """Let a command take ``--json``, passed on as ``as_json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document, also on failure."
    )(command)


def example(*lines: str) -> Callable[[Command], Command]:
    """Show how a command is used at the end of its help. Goes above ``@click.command()``."""

    def add(command: Command) -> Command:
        # \b is click's mark for text that mustn't be wrapped.
        title = "Example:" if len(lines) == 1 else "Examples:"
        command.epilog = "\n".join(("\b", title, *(f"  {line}" for line in lines)))
        return command

    return add
