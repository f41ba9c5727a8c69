"""Asking an actor: attached when first needed, patient while it's being restarted."""

import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from eris.cli.invocation import Invocation

if TYPE_CHECKING:
    from eris.actor import Port

R = TypeVar("R", bound=msgspec.Struct)

ANSWER_SECONDS = 60.0
"""How long an answer may take, restarts on the way included."""


def fresh_key() -> str:
    """Return an idempotency key, so that a write that is repeated isn't done twice."""
    return uuid.uuid4().hex


class Ask(Protocol):
    """Sends a request to an actor and returns its reply."""

    def __call__(self, body: msgspec.Struct, expect: type[R], /) -> R:
        """Ask.

        Raises:
            UnavailableError: The system doesn't run, or the actor can't.
            RemoteError: The actor refused, or didn't answer in time.
        """
        ...


@contextmanager
def asking(
    invocation: Invocation, actor: str, *, start: bool, within: float = ANSWER_SECONDS
) -> Iterator[Ask]:
    """Give a way to ask an actor of the running system.

    Nothing is sent, and the system needn't run, before the first question.

    Args:
        invocation: Whose system.
        actor: Who is asked.
        start: Start the system if it isn't running.
        within: Seconds an answer may take.
    """
    with ExitStack() as stack:
        port: Port | None = None

        def ask(body: msgspec.Struct, expect: type[R], /) -> R:
            from eris.absence import ask_while_it_lives  # noqa: PLC0415 - zmq: not for help

            nonlocal port
            port = port or stack.enter_context(_attach(invocation, start=start))
            return ask_while_it_lives(port, actor, body, expect, within=within)

        yield ask


@contextmanager
def _attach(invocation: Invocation, *, start: bool) -> "Iterator[Port]":
    from eris.cli.starting import start_system  # noqa: PLC0415
    from eris.surface import attach, is_running, require_running  # noqa: PLC0415

    paths = invocation.paths()
    if start and not is_running(paths):
        start_system(paths.vault, invocation.child_environment(), sys.stderr)
    require_running(paths)
    with attach("cli", paths, invocation.settings().settings) as port:
        yield port
