"""`eris console`: opens the chat, which is a process of its own (`actors.console`)."""

import os
import sys

import click

from eris.cli.invocation import Invocation, example, pass_invocation, vault_option


@example("eris console --vault ~/notes --session work")
@click.command()
@click.option("--session", metavar="NAME", default="main", help="Conversation to join.")
@vault_option
@pass_invocation
def console(invocation: Invocation, session: str) -> None:
    """Open the chat in this terminal, attached to the running system.

    Several consoles may join the same conversation; all see the same. Without a terminal it reads
    one message a line and prints the answers.
    """
    paths = invocation.paths()
    arguments = [sys.executable, "-m", "actors.console", "--session", session]
    environment = {**invocation.child_environment(), **paths.environment()}
    os.execve(sys.executable, arguments, environment)  # noqa: S606 - the same interpreter
