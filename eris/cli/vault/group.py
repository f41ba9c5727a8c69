"""The group `eris vault`, and what all its commands have in common."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from eris.cli.answering import answering
from eris.cli.answers import Answer
from eris.cli.invocation import example
from eris.cli.texts import apart, text
from eris.cli.vault.asking import attached
from eris.cli.vault.obsidian import ObsidianForm

READING, FINDING, WRITING, PAST = "Read", "Find", "Write", "Look back and undo"

_SPLIT = frozenset({"daily", "property", "task"})
"""Commands that may be written in two words, `daily append`: none of them is followed by a text."""


class VaultCommand(click.Command):
    """A command that understands Obsidian's way of writing it too."""

    section = ""
    """Under which title it's listed."""
    renamed: Mapping[str, str] = {}
    """Obsidian's names of parameters that have another name here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what follows the command's name.

        Only what begins with two dashes is an option: ``- eggs`` and ``-draft`` are texts.
        """
        options, words = apart(self, args)
        form = ObsidianForm(self, self.renamed)
        if "--" not in args and form.fits(words):
            more, words = form.translated(words, ctx)
            options += more
        return super().parse_args(ctx, [*options, "--", *words])


class VaultGroup(click.Group):
    """The commands in the order in which they are declared, by what they're for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of declaration."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands, a part for each section."""
        widest = max(map(len, self.commands))
        for section in (READING, FINDING, WRITING, PAST):
            rows = [
                (name.ljust(widest), command.get_short_help_str(70))
                for name, command in self.commands.items()
                if isinstance(command, VaultCommand) and command.section == section
            ]
            with formatter.section(section):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, also one in two words; an unknown one is answered with the nearest."""
        if args[0] in _SPLIT and f"{args[0]}:{' '.join(args[1:2])}" in self.commands:
            args = [f"{args[0]}:{args[1]}", *args[2:]]
        if args[0] not in self.commands and not args[0].startswith("-"):
            import difflib  # noqa: PLC0415 - needed for mistakes only

            near = difflib.get_close_matches(args[0], self.commands, n=1)
            meant = f" Did you mean `eris vault {near[0]}`?" if near else ""
            raise click.UsageError(f"There is no command {args[0]!r} of the vault.{meant}", ctx)
        return super().resolve_command(ctx, args)


@example(
    'eris vault search "milk or eggs"',
    'eris vault append todo.md "- [ ] buy milk"',
    "eris vault move inbox/idea.md projects/",
)
@click.group(cls=VaultGroup)
def vault() -> None:
    """Read, search and change notes, without a model.

    The commands have the names of Obsidian's own command line, and take its words as well:
    `read file=Recipe` is `read Recipe`. A note is named by its path, its name, its title or an
    alias. Needs the running system (`eris up`); the Obsidian app needn't run. Whatever is written
    can be taken back by `eris undo`.
    """


def command(
    name: str,
    *examples: str,
    section: str,
    renamed: Mapping[str, str] | None = None,
    total: bool = False,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Declare a command of the vault: a function that takes `Notes` and returns an `Answer`.

    Args:
        name: Obsidian's, if it has one.
        examples: What follows ``eris vault`` in the examples of its help; the name comes first.
        section: Under which title it's listed.
        renamed: Obsidian's names of parameters that have another name here.
        total: Whether it lists things that can be counted.
    """

    def decorate(function: Callable[..., Answer]) -> Callable[..., Answer]:
        made = click.command(name, cls=VaultCommand)(answering(attached, total=total)(function))
        made.section = section
        made.renamed = renamed or {}
        vault.add_command(example(*(f"eris vault {each}" for each in examples))(made))
        return function

    return decorate


def note_argument(*, required: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a command take a note, as its path, name, title or alias; an empty text for none."""
    if required:
        return click.argument("note", type=text)
    return click.argument("note", type=text, default="")


OF_NOTE: Mapping[str, str] = {"file": "note", "path": "note"}
"""Obsidian's names for a note."""
