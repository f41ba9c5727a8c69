"""What tests of faults in a whole system share: tool calls, turns, disks and models to break."""

import contextlib
import json
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from eris.actor import Port
from eris.conversation import Conversation as Seen
from eris.conversation import SessionEvent, fold
from eris.models.store import ModelStore
from eris.paths import models_folder
from proto.gatekeeper import Invoke, Invoked, Offer, Offered
from proto.orchestrator import (
    NewSession,
    SessionOpened,
    SubmitTurn,
    TurnAccepted,
    TurnState,
    TurnView,
)
from proto.tools import Origin
from tests.supervised import Supervised
from tests.support import wait_until

TOOLS = ("vault:read", "vault:write", "vault:list", "vault:search")
ENDED = frozenset({TurnState.DONE, TurnState.FAILED, TurnState.CANCELLED})


def actors(*names: str) -> str:
    """A user's supervisor.toml that starts these actors only."""
    listed = ", ".join(f'"{name}"' for name in names)
    return f"[supervisor]\nactors = [{listed}]\n"


def by_the_model(view: TurnView) -> bool:
    """Whether a turn was ended by what the model wrote, be it an answer or nonsense.

    The smallest model often writes nothing usable, or a call that can't be carried out; that it was
    asked and wrote is what counts.
    """
    called_in_vain = any(call.state == "failed" for call in view.calls)
    return view.usage.generated > 0 and (view.error in {"", "no-answer"} or called_in_vain)


class ToolCaller:
    """Stands in for the orchestrator in a system that has none: calls tools at the gatekeeper."""

    def __init__(self, system: Supervised) -> None:
        self._port = system.connect("orchestrator")
        wait_until(lambda: set(self._offered()) == set(TOOLS), 30, "the vault's tools")

    def __call__(self, tool: str, call_id: str = "", **arguments: str) -> Invoked:
        body = Invoke(
            call_id=call_id or secrets.token_hex(6),
            tool=tool,
            arguments=json.dumps(arguments),
            origin=Origin.USER,
            offered=TOOLS,
            session="main",
            turn="t",
        )
        return self._port.ask("gatekeeper", body, Invoked, within=40, retry=True)

    def _offered(self) -> tuple[str, ...]:
        body = Offer(tools=TOOLS, origin=Origin.USER)
        return self._port.ask("gatekeeper", body, Offered, within=30, retry=True).tools


class Talk:
    """A console attached to one session of a whole system."""

    def __init__(self, port: Port, session: str = "") -> None:
        self.port = port
        self.session = session or f"s{secrets.token_hex(3)}"
        body = NewSession(name=self.session)
        port.ask("orchestrator", body, SessionOpened, within=60, retry=True)

    def submit(self, text: str) -> str:
        """Hand a message in; returns its turn once that is on disk."""
        body = SubmitTurn(session=self.session, text=text, idem=secrets.token_hex(6))
        return self.port.ask("orchestrator", body, TurnAccepted, within=60, retry=True).turn

    def follow(self, within: float = 120.0) -> "Iterator[Seen]":
        """Yield all that is known of the session after each event."""
        subscription = self.port.subscribe(
            "orchestrator", f"session:{self.session}", item=SessionEvent
        )
        seen, deadline = Seen(session=self.session), time.monotonic() + within
        try:
            while (left := deadline - time.monotonic()) > 0:
                event = subscription.next(left)
                if event is not None:
                    seen = fold(seen, event)
                    yield seen
        finally:
            subscription.close()
        raise AssertionError(f"nothing more within {within} s; the last was: {seen.turns[-1:]}")

    def written(self, turn: str, characters: int = 1) -> TurnView:
        """Wait until so much of a turn's thought and answer has come, or it has ended."""
        for seen in self.follow():
            view = seen.find(turn)
            if view is not None and (
                view.state in ENDED or len(view.message) + len(view.thought) >= characters
            ):
                return view
        raise AssertionError

    def end_of(self, turn: str, within: float = 120.0) -> TurnView:
        """Wait for the end of a turn."""
        for seen in self.follow(within):
            view = seen.find(turn)
            if view is not None and view.state in ENDED:
                return view
        raise AssertionError

    def say(self, text: str) -> TurnView:
        """Hand a message in and wait for its end."""
        return self.end_of(self.submit(text))


def model_file(name: str, environ: Mapping[str, str]) -> Path:
    """Path of a model of the catalogue; get it with ``eris models pull``."""
    return ModelStore(models_folder(environ)).path(name)


@contextlib.contextmanager
def mounted(place: Path, *options: str) -> Iterator[None]:
    """Mount something at a folder; the test is skipped where that isn't allowed."""
    command = ["mount", *options, str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("may not mount file systems here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Take away the right to write into a folder, from a superuser too."""
    if os.getuid():
        folder.chmod(0o555)
        try:
            yield
        finally:
            folder.chmod(0o755)
        return
    with mounted(folder, "--bind", str(folder)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        yield
