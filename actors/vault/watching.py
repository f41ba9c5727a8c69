"""Keeps the index right while anybody edits the vault: watchfiles tells what may have changed.

What it tells is only ever a hint where to look: the index compares those files with the disk, so
an edit of our own, which the writer has told the index already, costs one look at the file. Hints
can be missing (nobody watched, the system's queue was full), so everything is compared with the
disk at the start, after a burst of changes, and when watching had to start anew. With nothing
changed nothing is done at all.
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from watchfiles import watch

from actors.vault.index import Pass, VaultIndex
from actors.vault.index.building import Progress
from eris.errors import ErisError

MOST_HINTS = 500
"""Changes told at once, from which on everything is compared: that's as fast as one by one, and in
such a burst the system's queue may have run over, which it doesn't tell."""

SETTINGS = ".obsidian/app.json"
"""What the user excludes from search is written there."""

RETRY_SECONDS = 30.0
"""How long to wait if the vault can't be watched; it's compared as often instead."""

_MOST_SETTLING_MS = 300
"""How long the changes of one save, or of a sync, are collected for."""
_ROUND_MS = 300
"""After which a round ends that nothing happened in; the first one does before all is compared."""


class Watcher:
    """Watches the vault from a thread of its own until it's stopped."""

    def __init__(
        self,
        vault: Path,
        index: VaultIndex,
        *,
        progress: Progress | None = None,
        settings_changed: Callable[[], None] = lambda: None,
        changed: Callable[[], None] = lambda: None,
        failed: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        """Create it; `start` starts it.

        Args:
            vault: The vault's folder.
            index: What to keep right.
            progress: Called with files done and files to do when everything is compared.
            settings_changed: Called before everything is compared because `SETTINGS` changed.
            changed: Called when something was found to have changed, and is in the index.
            failed: Called with what keeps the vault from being watched or the index from being
                written, each time; both are tried again.
        """
        self._vault = vault
        self._index = index
        self._progress = progress
        self._settings_changed = settings_changed
        self._changed = changed
        self._failed = failed
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vault-watcher", daemon=True)
        self.reconciled = threading.Event()
        """Set once everything was compared for the first time."""

    def start(self) -> None:
        """Start: everything is compared with the disk first."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait until the batch under way is written. The index can be closed then."""
        self._stopping.set()
        self._index.stop()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._watch()
            # Whatever it is: without a watcher the index would be wrong, and nobody would know.
            except Exception as error:  # noqa: BLE001
                self._failed(error)
                if not isinstance(error, ErisError):  # It can't be watched, but looked at.
                    with contextlib.suppress(ErisError):
                        self._reconcile()
                self._stopping.wait(RETRY_SECONDS)

    def _watch(self) -> None:
        """Watch until stopped, or until the vault's folder itself goes."""
        vault = self._vault.resolve()
        above = len(str(vault))
        looked = False
        for changes in watch(
            vault,
            watch_filter=None,
            debounce=_MOST_SETTLING_MS,
            rust_timeout=_ROUND_MS,
            yield_on_timeout=True,
            stop_event=self._stopping,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            # A step over thousands of files is told by some more changes: no object for each.
            paths = {path[above:].lstrip("/") for _, path in changes}
            if "" in paths:  # Moved or removed: what is watched isn't the vault any more.
                return
            if SETTINGS in paths:
                self._settings_changed()
            # The first round ends when watching has begun: what changes while everything is
            # compared is told by the next one.
            if not looked or SETTINGS in paths or len(paths) >= MOST_HINTS:
                looked = True
                self._reconcile()
            else:
                self._tell(self._index.update(*paths))

    def _reconcile(self) -> None:
        result = self._index.reconcile(self._progress)
        if not result.stopped:
            self.reconciled.set()
        self._tell(result)

    def _tell(self, result: Pass) -> None:
        if result.changed or result.removed:
            self._changed()
