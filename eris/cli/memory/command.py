"""What all commands about the memory have in common."""

import functools
import sys
from collections.abc import Callable
from typing import Any

import click

from eris.cli.answers import Answer
from eris.cli.asking import asking
from eris.cli.invocation import Invocation, json_option, pass_invocation, vault_option
from eris.cli.looks import Look

MEMORY = "memory"

LONG_SECONDS = 900.0
"""How long an answer may take: reading a large document does."""


def answering(function: Callable[..., Answer]) -> Callable[..., None]:
    """Give a command that returns an answer what all of them take, and print the answer.

    The command's first argument asks the memory.
    """

    def callback(
        invocation: Invocation, /, *, start: bool, as_json: bool, **parameters: Any
    ) -> None:
        with asking(invocation, MEMORY, start=start, within=LONG_SECONDS) as ask:
            result = function(ask, **parameters)
        look = Look(terminal=sys.stdout.isatty(), color=invocation.color)
        result.print(look, as_json=as_json, total=False)

    functools.update_wrapper(callback, function)
    own = callback.__dict__.get("__click_params__", [])
    callback.__dict__["__click_params__"] = common = []
    decorated: Callable[..., None] = vault_option(json_option(pass_invocation(callback)))
    decorated = click.option(
        "--up", "start", is_flag=True, help="Start the system first if it isn't running."
    )(decorated)
    common += own  # The last of the list are the first of the help.
    return decorated
