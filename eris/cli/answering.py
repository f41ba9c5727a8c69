"""Makes a command of a function that asks an actor and returns an answer."""

import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import click

from eris.cli.answers import Answer
from eris.cli.invocation import Invocation, json_option, pass_invocation, vault_option
from eris.cli.looks import Look


class Connect(Protocol):
    """Gives what a command asks, attached to the running system when it's first asked."""

    def __call__(self, invocation: Invocation, *, start: bool) -> AbstractContextManager[Any]:
        """Give it for as long as the command runs."""
        ...


def answering(
    connect: Connect, *, total: bool = False
) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Give a command that returns an answer what all of them take, and print the answer.

    Args:
        connect: Gives the command's first argument.
        total: Whether it lists things that can be counted.
    """

    def decorate(function: Callable[..., Answer]) -> Callable[..., None]:
        def callback(
            invocation: Invocation,
            /,
            *,
            start: bool,
            as_json: bool,
            only_total: bool = False,
            **parameters: Any,
        ) -> None:
            with connect(invocation, start=start) as asked:
                result = function(asked, **parameters)
            look = Look(terminal=sys.stdout.isatty(), color=invocation.color)
            result.print(look, as_json=as_json, total=only_total)

        functools.update_wrapper(callback, function)
        own = callback.__dict__.get("__click_params__", [])
        # A list of its own, since a function may be declared under two names.
        callback.__dict__["__click_params__"] = common = []
        decorated: Callable[..., None] = vault_option(json_option(pass_invocation(callback)))
        decorated = click.option(
            "--up", "start", is_flag=True, help="Start the system first if it isn't running."
        )(decorated)
        if total:
            decorated = click.option(
                "--total", "only_total", is_flag=True, help="Print only how many there are."
            )(decorated)
        common += own  # The last of the list are the first of the help.
        return decorated

    return decorate
