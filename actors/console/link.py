"""The console's threads: they follow the session and the supervisor, and send what is typed.

The view is replaced as a whole under a lock; `changed` is called after every replacement, on
whatever thread it happened.
"""

import threading
import uuid
from collections.abc import Callable, Sequence

from actors.console.view import (
    Accepted,
    Acted,
    Attached,
    Event,
    Noted,
    Refused,
    Reminded,
    ReminderGone,
    SessionJoined,
    StatusCame,
    Tone,
    Typed,
    View,
    empty,
    update,
)
from eris.actor import Port
from eris.conversation import SessionEvent
from eris.errors import ErisError, RemoteError
from eris.reminding import Reminders, Showing, headline
from eris.supervisor import control
from eris.surface import ORCHESTRATOR, cancel, submit, topic_of
from proto.agenda import ReminderView
from proto.errors import ErrorCode
from proto.orchestrator import NewSession, SessionOpened
from proto.supervisor import Status, StatusReport

_LOOK_SECONDS = 0.25
_STATUS_SECONDS = 1.0
_STATUS_WITHIN_SECONDS = 2.0
_OPEN_WITHIN_SECONDS = 30.0
_NAMED = 5


class Link:
    """The connection of one console to one session at a time."""

    def __init__(
        self,
        port: Port,
        session: str,
        changed: Callable[[], None],
        reminded: Callable[[ReminderView], None] = lambda _reminder: None,
        *,
        seen: bool = True,
    ) -> None:
        """Create a link that follows nothing until `start`.

        Args:
            port: Connection to the running system.
            session: Session to follow.
            changed: Called after every change of the view, on any thread.
            reminded: Called with each reminder that is new here, on any thread.
            seen: Whether what this console shows is in front of a person.
        """
        self.port = port
        self._changed = changed
        self._reminded = reminded
        self._seen = seen
        self._lock = threading.Lock()
        self._view = empty(session)
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._follow, name="session", daemon=True),
            threading.Thread(target=self._watch, name="status", daemon=True),
            threading.Thread(target=self._remind, name="reminders", daemon=True),
        ]

    @property
    def view(self) -> View:
        """What is known now."""
        return self._view

    @property
    def session(self) -> str:
        """Name of the session that is followed."""
        return self._view.conversation.session

    def tell(self, event: Event) -> None:
        """Take an event into the view."""
        with self._lock:
            self._view = update(self._view, event)
        self._changed()

    def note(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        """Say something on this console only."""
        self.tell(Noted(text, tone))

    def start(self) -> None:
        """Start following."""
        for thread in self._threads:
            thread.start()

    def start_reminders(self) -> None:
        """Start following reminders only."""
        self._threads = self._threads[-1:]
        self.start()

    def stop(self) -> None:
        """Stop following; returns when the threads have ended, or after a moment."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(2 * _LOOK_SECONDS)

    def join(self, session: str) -> None:
        """Follow another session."""
        self.tell(SessionJoined(session))

    def send(self, text: str) -> None:
        """Hand in a message; returns at once, what becomes of it shows in the view."""
        idem = uuid.uuid4().hex
        self.tell(Acted())
        self.tell(Typed(idem, text))
        self._work(self._submit, self.session, text, idem)

    def cancel(self, turn: str = "") -> None:
        """Stop a turn, by default the running one; returns at once."""
        self._work(self._cancel, self.session, turn)

    def open_session(self, name: str) -> str:
        """Make an empty session and return its name.

        Raises:
            RemoteError: The orchestrator refused it, or didn't answer.
        """
        return self.port.ask(
            ORCHESTRATOR,
            NewSession(name=name),
            SessionOpened,
            within=_OPEN_WITHIN_SECONDS,
            retry=True,
        ).session

    def _work(self, function: Callable[..., None], *arguments: str) -> None:
        try:
            self.port.submit(function, *arguments)
        except ErisError as error:
            self.note(sentence(error), Tone.ERROR)

    def _submit(self, session: str, text: str, idem: str) -> None:
        try:
            accepted = submit(self.port, session, text, idem)
        except ErisError as error:
            self.tell(Refused(idem, f"Not sent: {text!r}. {sentence(error)}"))
        else:
            self.tell(Accepted(idem, accepted.turn))

    def _cancel(self, session: str, turn: str) -> None:
        try:
            cancel(self.port, session, turn)
        except ErisError as error:
            self.note(sentence(error), Tone.ERROR)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            session = self.session
            try:
                self._follow_one(session)
            except RemoteError as error:
                self.tell(Attached(reached=False))
                if error.code != ErrorCode.NOT_FOUND:
                    self.note(sentence(error), Tone.ERROR)
                    self._stopped.wait(_STATUS_SECONDS)
                    continue
                self._open(session)

    def _open(self, session: str) -> None:
        try:
            self.open_session(session)
        except ErisError as error:
            self.note(sentence(error), Tone.ERROR)
            self._stopped.wait(_STATUS_SECONDS)

    def _follow_one(self, session: str) -> None:
        """Follow a session until another one is joined."""
        subscription = self.port.subscribe(ORCHESTRATOR, topic_of(session), item=SessionEvent)
        try:
            while not self._stopped.is_set() and self.session == session:
                event = subscription.next(_LOOK_SECONDS)
                if self.session != session:
                    return
                if event is not None:
                    self.tell(event)
                reached = subscription.connected and self.port.welcomed.is_set()
                if reached != self.view.reached:
                    self.tell(Attached(reached))
        finally:
            subscription.close()

    def _remind(self) -> None:
        """Show reminders, whatever session is followed."""
        showing = Showing(
            show=self._show_reminder,
            changed=lambda reminder: self.tell(Reminded(reminder)),
            gone=lambda occurrence: self.tell(ReminderGone(occurrence)),
            unanswered=lambda reminders: self.note(unanswered(reminders)),
            seen=self._seen,
        )
        Reminders(self.port, showing).follow(self._stopped)

    def _show_reminder(self, reminder: ReminderView) -> None:
        self.tell(Reminded(reminder))
        self._reminded(reminder)

    def _watch(self) -> None:
        while not self._stopped.is_set():
            try:
                report = control.request(
                    self.port.paths, Status(), StatusReport, within=_STATUS_WITHIN_SECONDS
                )
            except ErisError:
                self.tell(StatusCame(None))
            else:
                self.tell(StatusCame(report))
            self._stopped.wait(_STATUS_SECONDS)


def sentence(error: ErisError) -> str:
    """Return an error in words."""
    return f"{error.message} {error.hint}".strip()


def unanswered(reminders: Sequence[ReminderView]) -> str:
    """Return which reminders were seen elsewhere and nobody has answered."""
    number = "1 reminder waits" if len(reminders) == 1 else f"{len(reminders)} reminders wait"
    rows = [f"{each.occurrence}  {headline(each)}" for each in reminders[-_NAMED:]]
    more = [f"and {len(reminders) - _NAMED} more: /reminders"] if len(reminders) > _NAMED else []
    return "\n".join([f"{number} for an answer:", *rows, *more])
