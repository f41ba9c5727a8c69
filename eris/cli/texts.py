"""Texts on the command line: what begins like an option but is none, and what can't be sent."""

import datetime as dt
import itertools
import re
from collections.abc import Sequence

import click

_OPTION = re.compile("--[a-z]")


class TextCommand(click.Command):
    """A command in which only what begins with two dashes is an option.

    ``- eggs`` and ``-draft`` are texts.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what follows the command's name."""
        options, words = apart(self, args)
        return super().parse_args(ctx, [*options, "--", *words])


class TextGroup(click.Group):
    """A group of such commands."""

    command_class = TextCommand


def apart(command: click.Command, args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take what follows a command's name apart: options with their values, and words."""
    with_value = {
        name
        for param in command.params
        if isinstance(param, click.Option) and not param.is_flag
        for name in param.opts
    }
    options: list[str] = []
    words: list[str] = []
    rest = iter(args)
    for word in rest:
        if word == "--":
            words += rest
        elif word == "-h" or _OPTION.match(word):
            options.append(word)
            if word in with_value:
                options += itertools.islice(rest, 1)
        else:
            words.append(word)
    return options, words


def text(value: str) -> str:
    """Check that text from the command line can be sent and stored; the type of such parameters.

    Raises:
        click.BadParameter: It can't.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("it has bytes that are no UTF-8 text.") from None
    return value


def day(value: str) -> str:
    """Check that a text is a day as the calendar has it, or empty; the type of such parameters.

    Raises:
        click.BadParameter: It isn't.
    """
    try:
        return dt.date.fromisoformat(value).isoformat() if value else ""
    except ValueError:
        raise click.BadParameter(f"{value!r} is no day; write it as 2026-05-31.") from None
