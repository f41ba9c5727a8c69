"""Obsidian's way of writing a command: ``append file=Recipe content="- eggs" silent``.

A command is written either that way or with arguments and options, never in a mixture: the first
word decides. So a text such as ``path=/usr/bin`` that is to be written is never taken for a
parameter.
"""

import re
from collections.abc import Mapping, Sequence

import click

_PARAMETER = re.compile(r"([a-z]+)=(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\([nt\\])")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}

_WITHOUT_EFFECT = frozenset({"all", "newtab", "open", "silent"})
"""Flags about windows of the app, and one that asks for what is the default here."""


class ObsidianForm:
    """The words that one command takes in Obsidian's form."""

    def __init__(self, command: click.Command, renamed: Mapping[str, str]) -> None:
        """Create it.

        Args:
            command: The command.
            renamed: Obsidian's names of parameters that have another name in the command.
        """
        options = {
            name.removeprefix("--"): option
            for option in command.params
            if isinstance(option, click.Option)
            for name in (*option.opts, *option.secondary_opts)
            if name.startswith("--")
        }
        self._arguments = [each for each in command.params if isinstance(each, click.Argument)]
        self._renamed = renamed
        self._flags = {name for name, option in options.items() if option.is_flag}
        self._flags |= _WITHOUT_EFFECT
        self._options = set(options) - self._flags
        self._known = {*renamed, *self._options, *(str(each.name) for each in self._arguments)}

    def fits(self, words: Sequence[str]) -> bool:
        """Whether the words of a command are written in Obsidian's form.

        They are if the first is a parameter, or a flag of a command that needs nothing else.
        """
        first = words[0] if words else ""
        if self._parameter(first):
            return True
        return first in self._flags and not any(each.required for each in self._arguments)

    def translated(
        self, words: Sequence[str], context: click.Context
    ) -> tuple[list[str], list[str]]:
        """Return words in Obsidian's form as options and as arguments.

        Raises:
            click.UsageError: One is neither a parameter nor a flag of this command, or one that is
                needed is missing.
        """
        given: dict[str, str] = {}
        options: list[str] = []
        for word in words:
            parameter = self._parameter(word)
            if parameter and parameter[0] in self._options:
                options.append(f"--{parameter[0]}={parameter[1]}")
            elif parameter:
                given[parameter[0]] = parameter[1]
            elif word not in self._flags:
                takes = ", ".join(sorted(self._known | self._flags))
                raise click.UsageError(
                    f"{word!r} isn't known here, where everything is written as in Obsidian:"
                    f" name=value. This command takes {takes}.",
                    context,
                )
            elif word not in _WITHOUT_EFFECT:
                options.append(f"--{word}")
        arguments = []
        for argument in self._arguments:
            if argument.name in given:
                arguments.append(given.pop(argument.name))
            elif argument.required:
                raise click.MissingParameter(ctx=context, param=argument)
        return options, arguments

    def _parameter(self, word: str) -> tuple[str, str] | None:
        """Take ``name=value`` apart, if the command has such a parameter."""
        found = _PARAMETER.fullmatch(word)
        if not found or found[1] not in self._known:
            return None
        name, value = found.groups()
        if name == "content":
            value = _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], value)
        return self._renamed.get(name, name), value
