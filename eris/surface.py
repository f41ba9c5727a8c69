"""What every surface needs: attaching to the running system and following a turn."""

import secrets
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager

from eris.absence import ask_while_it_lives
from eris.actor import Connection, Port
from eris.config import Settings
from eris.conversation import UNFINISHED, Conversation, SessionEvent, fold
from eris.errors import ErisError, UnavailableError
from eris.locks import holder
from eris.paths import Paths
from proto.control import Done
from proto.errors import ErrorCode
from proto.orchestrator import CancelTurn, SubmitTurn, TurnAccepted, TurnView

ORCHESTRATOR = "orchestrator"

SUBMIT_SECONDS = 60.0
"""How long a submission is tried, restarts on the way included."""

_CANCEL_SECONDS = 5.0
_LOOK_SECONDS = 0.5
_GONE_SECONDS = 15.0


def is_running(paths: Paths) -> bool:
    """Whether a supervisor or a bus serves this vault."""
    return any(holder(paths.lock(name)) for name in ("erisd", "bus"))


def require_running(paths: Paths) -> None:
    """Check that the system runs.

    Raises:
        UnavailableError: It doesn't; says how to start it.
    """
    if not is_running(paths):
        raise UnavailableError(
            f"Eris isn't running for the vault {paths.vault}.",
            hint=f"Start it with: eris up --vault {shlex.quote(str(paths.vault))}",
        )


@contextmanager
def attach(role: str, paths: Paths, settings: Settings) -> Iterator[Port]:
    """Connect to the bus under ``role`` and a fresh suffix, such as ``cli.4f2a91c3``."""
    name = f"{role}.{secrets.token_hex(4)}"
    with Connection(name, paths.bus_socket) as connection:
        port = Port(connection, paths, settings)
        try:
            yield port
        finally:
            port.close()


def topic_of(session: str) -> str:
    """Return the topic that tells of a session."""
    return f"session:{session}"


def submit(
    port: Port, session: str, text: str, idem: str, within: float = SUBMIT_SECONDS
) -> TurnAccepted:
    """Hand in what the user said; repeating it with the same ``idem`` is harmless.

    Raises:
        RemoteError: The orchestrator refused it, or didn't answer in time.
        UnavailableError: The orchestrator can't run.
    """
    body = SubmitTurn(session=session, text=text, idem=idem)
    return ask_while_it_lives(port, ORCHESTRATOR, body, TurnAccepted, within=within)


def cancel(port: Port, session: str, turn: str = "") -> None:
    """Stop a turn, by default the running one.

    Raises:
        RemoteError: There is nothing to stop, or nobody answered.
    """
    body = CancelTurn(session=session, turn=turn)
    port.ask(ORCHESTRATOR, body, Done, within=_CANCEL_SECONDS, retry=True)


def follow_turn(
    port: Port, session: str, turn: str, within: float, *, spent: float = 0.0
) -> Iterator[TurnView]:
    """Yield a turn whenever it changes, until it has ended; goes on across restarts.

    Args:
        port: Attached to the system.
        session: The turn's.
        turn: From `submit`.
        within: Seconds that the turn may take.
        spent: How many of these it has taken already.

    Raises:
        UnavailableError: The whole system has been gone for a while.
        ErisError: ``expired``: the turn didn't end within ``within`` seconds.
            The caller cancels it.
    """
    subscription = port.subscribe(ORCHESTRATOR, topic_of(session), item=SessionEvent)
    conversation = Conversation(session=session)
    shown: TurnView | None = None
    deadline = time.monotonic() + within - spent
    last_seen = time.monotonic()
    try:
        while True:
            event: SessionEvent | None = subscription.next(_LOOK_SECONDS)
            now = time.monotonic()
            if event is not None:
                conversation = fold(conversation, event)
                view = conversation.find(turn)
                if view is not None and view is not shown:
                    shown = view
                    yield view
                    if view.state not in UNFINISHED:
                        return
            if event is not None or is_running(port.paths):
                last_seen = now
            elif now - last_seen > _GONE_SECONDS:
                require_running(port.paths)
            if now > deadline:
                raise ErisError(
                    f"The turn didn't end within {within:.1f} s and was cancelled.",
                    hint="Give it longer with --timeout, or see `eris status`.",
                    code=ErrorCode.EXPIRED,
                )
    finally:
        subscription.close()
