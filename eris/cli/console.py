"""`eris console`: opens the chat, which is a process of its own (`actors.console`)."""

import os
import sys

import click

from eris.cli.invocation import Invocation, example, pass_invocation, vault_option
from eris.cli.starting import start_system
from eris.locks import holder


@example("eris console --vault ~/notes", "eris console --session work --up")
@click.command()
@click.option("--session", metavar="NAME", default="main", help="Conversation to join.")
@click.option("--up", "start", is_flag=True, help="Start the system first if it isn't running.")
@vault_option
@pass_invocation
def console(invocation: Invocation, *, session: str, start: bool) -> None:
    """Open the chat in this terminal, attached to the running system.

    Several consoles may join the same conversation; all see the same. Leaving it leaves the
    system running. Without a terminal it reads one message a line and prints the answers.
    """
    paths = invocation.paths()
    running = any(holder(paths.lock(name)) for name in ("erisd", "bus"))
    if not running and not start and sys.stdin.isatty() and sys.stdout.isatty():
        start = click.confirm(f"Eris isn't running for {paths.vault}. Start it?", default=True)
    if not running and start:
        start_system(paths.vault, invocation.child_environment(), sys.stderr)
    arguments = [sys.executable, "-m", "actors.console", "--session", session]
    environment = {**invocation.child_environment(), **paths.environment()}
    os.execve(sys.executable, arguments, environment)  # noqa: S606 - the same interpreter
