"""Follows the vault's notes, and asks it about their tasks."""

import threading
from typing import TypeVar

import msgspec

from actors.agenda.note_tasks import NoteTasks
from eris.actor import Port
from eris.errors import ErisError, RemoteError
from proto.errors import ErrorCode
from proto.vault import EditKind, EditNote, ListTasks, NotesChanged, Tasks, TaskView, Written

R = TypeVar("R", bound=msgspec.Struct)

VAULT = "vault"
NOTES_TOPIC = "notes"

_ANSWER_SECONDS = 30.0
_PAGE = 2_000
_LONG_SECONDS = 3600.0
_SETTLE_SECONDS = 0.5
"""Several changes that come at once are looked at once."""
_AGAIN_SECONDS = 30.0
"""After the vault didn't answer, or hasn't looked at all notes yet."""


class VaultTasks:
    """Asks the vault; a `TaskNotes`."""

    def __init__(self, port: Port) -> None:
        """Make it."""
        self._port = port

    def open_tasks(self) -> tuple[list[TaskView], bool]:
        """Return all open tasks that have a date, and whether all notes were looked at."""
        tasks: list[TaskView] = []
        complete = True
        while True:
            request = ListTasks(done=False, dated=True, limit=_PAGE, offset=len(tasks))
            page = self._ask(request, Tasks)
            tasks += page.tasks
            complete = complete and not page.remark
            if not page.tasks or len(tasks) >= page.total:
                return tasks, complete

    def done_tasks(self, path: str) -> list[TaskView]:
        """Return the ticked tasks of a note; none if it isn't there."""
        try:
            return list(self._ask(ListTasks(note=path, done=True, limit=_PAGE), Tasks).tasks)
        except RemoteError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            return []

    def tick(self, task: TaskView, key: str) -> None:
        """Tick a task, if its line still says the same."""
        request = EditNote(
            idem=key, kind=EditKind.TICK_TASK, note=task.path, line=task.line, content=task.text
        )
        self._ask(request, Written)

    def _ask(self, body: msgspec.Struct, expect: type[R]) -> R:
        return self._port.ask(VAULT, body, expect, within=_ANSWER_SECONDS, retry=True)


class NoteFollower:
    """Compares whenever notes or items have changed. Nothing wakes it otherwise."""

    def __init__(self, port: Port, tasks: NoteTasks) -> None:
        """Make it; `start` begins when the vault is there."""
        self._port = port
        self._tasks = tasks
        self._woken = threading.Event()
        self._there = threading.Event()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._compare, name="note-tasks", daemon=True),
            threading.Thread(target=self._follow, name="notes", daemon=True),
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Something is done, or the vault is there. Never waits."""
        self._there.set()
        self._woken.set()

    def stop(self) -> None:
        """End; what isn't compared yet is at the next start."""
        self._stopping.set()
        self.wake()

    def _compare(self) -> None:
        again: float | None = None
        while not self._stopping.is_set():
            self._woken.wait(again)
            if self._stopping.wait(_SETTLE_SECONDS):
                return
            self._woken.clear()
            again = None
            try:
                self._tasks.sync()
            except ErisError as error:
                self._port.log.warning("note-tasks-not-compared", reason=error.message)
                again = _AGAIN_SECONDS
            except Exception:
                # A defect here must not keep reminders from being told of.
                self._port.log.exception("note-tasks-broke")

    def _follow(self) -> None:
        self._there.wait()  # without a vault nobody asks for it again and again
        while not self._stopping.is_set():
            subscription = self._port.subscribe(VAULT, NOTES_TOPIC, item=NotesChanged)
            try:
                while not self._stopping.is_set():
                    if subscription.next(_LONG_SECONDS) is not None:
                        self._woken.set()
            except RemoteError as error:
                self._port.log.warning("notes-not-followed", code=error.code)
                self._stopping.wait(_AGAIN_SECONDS)
            finally:
                subscription.close()
