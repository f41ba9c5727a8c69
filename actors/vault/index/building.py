"""Passes over the vault that bring the index up to date.

A pass first finds which files differ from what the index knows, then reads and parses those in
batches; each batch is one transaction, so that a crash loses one batch and the next start goes on
from there. New files are known by name, as `waiting`, before the first of them is parsed: links
resolve right from the beginning, and progress is known.

Only `_apply` and what it calls hold the lock, one batch at a time. A file that somebody else
brought up to date while it was being parsed here is left as it is.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from actors.vault.index.extracting import TEXT_EXTENSIONS, Extract, Unfit
from actors.vault.index.parsing import Batch, Job, parsed
from actors.vault.index.storing import Known, State, Store
from actors.vault.index.walking import OnDisk, Reach, Signature, Unreadable, read
from actors.vault.names import TEMPORARY_NAME, composed, is_hidden
from actors.vault.vault_folder import VaultFolder
from eris.errors import ErisError, StorageError

LARGEST = 10_000_000
"""Bytes of the largest file whose content is indexed."""

BATCH_FILES = 200
BATCH_BYTES = 4_000_000

_TICK_NS = 20_000_000
"""Nanoseconds that a disk's clock needs to tell two writes from each other; some need seconds."""

MOST_AT_ONCE = 50
"""Paths up to which an update is made at once, beside whatever else is going on: somebody waits."""

Progress = Callable[[int, int], None]
"""Called with files done and files to do."""

Ignored = Callable[[str], bool]
"""Whether a path is one that the user excluded from search."""


@dataclass
class Pass:
    """What one pass did."""

    looked: int = 0
    """Files met."""
    read: int = 0
    """Files read because they seemed changed."""
    changed: int = 0
    """Files whose rows were written."""
    removed: int = 0
    """Files taken out of the index."""
    stopped: bool = False
    """Whether it was stopped before its end."""
    overtaken: list[str] = field(default_factory=list)
    """Files that another pass wrote meanwhile."""
    unreadable: list[str] = field(default_factory=list)
    """Folders that couldn't be read; what the index has of them is kept."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A file that was read and is being parsed."""

    known: Known
    signature: Signature
    digest: bytes


class Builder:
    """Brings the index up to date; may be used by several threads."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        vault: VaultFolder,
        *,
        ignored: Ignored,
        largest: int = LARGEST,
        clock_ns: Callable[[], int],
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self._give_way = give_way
        self._one_at_a_time = threading.RLock()
        self._vault = vault
        self._clock_ns = clock_ns
        self._ignored = ignored
        self._largest = largest
        self._lock = threading.RLock()
        self._store = Store(connection)
        self._stopping = False
        self.passes = 0
        """Passes made since the start, those that found nothing changed included."""
        self.written = 0
        """Files whose rows were written since the start."""

    def forget(self) -> None:
        """Take everything out of the index.

        Raises:
            StorageError: The index can't be written.
        """
        with self._transaction():
            for path in self._store.known():
                self._store.remove(path)
            self._store.settle_links()

    def stop(self) -> None:
        """Let passes under way end after their batch, and start no more."""
        self._stopping = True

    def reconcile(self, progress: Progress | None = None) -> Pass:
        """Compare everything with the disk.

        Raises:
            StorageError: The vault isn't there, or the index can't be written.
        """
        return self._long_pass([""], progress)

    def update(self, paths: Iterable[str]) -> Pass:
        """Compare some files or folders with the disk: those that were, or may have been, changed.

        Raises:
            StorageError: The vault isn't there, or the index can't be written.
        """
        wanted = sorted({composed(path) for path in paths if may_be_indexed(path)})
        if len(wanted) > MOST_AT_ONCE:
            return self._long_pass(wanted, None)
        return self._pass(wanted, None, _go_on) if wanted else Pass()

    def _long_pass(self, paths: list[str], progress: Progress | None) -> Pass:
        """Make a pass over many files: nobody waits for it, and others make room for it."""
        with self._one_at_a_time:
            return self._pass(paths, progress, self._give_way)

    def _pass(
        self, paths: list[str], progress: Progress | None, give_way: Callable[[], None]
    ) -> Pass:
        if self._stopping:
            return Pass(stopped=True)
        self.passes += 1
        result = Pass()
        found: dict[str, OnDisk] = {}
        gone: set[str] = set()
        reach = Reach(self._vault.root())
        try:
            for path in paths:
                self._compare(reach, path, found, gone, result, give_way)
        finally:
            reach.close()
        if self._stopping:
            result.stopped = True
            return result
        self._apply(list(found.values()), sorted(gone), result, progress, give_way)
        return result

    def _compare(
        self,
        reach: Reach,
        path: str,
        found: dict[str, OnDisk],
        gone: set[str],
        result: Pass,
        give_way: Callable[[], None],
    ) -> None:
        """Look at one path: a file, a folder with all in it, or something that was one."""
        with self._lock:
            missing = self._store.known(path)
        unreadable = []
        for each in reach.walk(path):
            give_way()
            if self._stopping:
                return
            if isinstance(each, Unreadable):
                unreadable.append(each.path)
                continue
            result.looked += 1
            known = missing.pop(each.path, None)
            if known is None or self._differs(known, each):
                found[each.path] = each
        result.unreadable += unreadable
        gone.update(path for path in missing if not _within(path, unreadable))

    def _differs(self, known: Known, each: OnDisk) -> bool:
        return (
            known.state is State.WAITING
            or known.signature != each.signature
            or (known.state is State.IGNORED) != self._ignored(each.path)
        )

    def _apply(
        self,
        found: list[OnDisk],
        gone: list[str],
        result: Pass,
        progress: Progress | None,
        give_way: Callable[[], None],
    ) -> None:
        """Take out what's gone, note what's new, then read and parse it batch by batch."""
        if not found and not gone:
            return
        jobs = self._prepare(found, gone, result)
        total = len(jobs)
        done = 0
        if progress and total:
            progress(0, total)
        pending: dict[str, _Pending] = {}
        for batch, contents in parsed(self._read(jobs, pending, result, give_way), total):
            give_way()
            with self._transaction():
                for job, content in zip(batch, contents, strict=True):
                    one = pending.pop(job.path)
                    self._put(job.path, one.known, one.signature, content, result, one.digest)
                self._store.settle_links()
            done += len(batch)
            if progress:
                progress(min(done, total), total)
            if self._stopping:
                result.stopped = True
                return
        if result.overtaken:
            self.update(result.overtaken)
        if progress and done < total:  # Some were only touched, or couldn't be read.
            progress(total, total)

    def _prepare(
        self, found: list[OnDisk], gone: list[str], result: Pass
    ) -> list[tuple[OnDisk, Known]]:
        """Settle all that needs no reading; return the files that are to be read."""
        jobs = []
        with self._transaction():
            self._remove(gone, result)
            for each in found:
                known = self._store.find(each.path) or self._store.add(each.path, each.signature)
                content = self._without_reading(each)
                if content is None:
                    jobs.append((each, known))
                else:
                    self._put(each.path, known, each.signature, content, result)
            self._store.settle_links()
        return jobs

    def _remove(self, gone: list[str], result: Pass) -> None:
        if not gone:
            return
        # Listed now, under the lock: what was written since the pass began is seen.
        reach = Reach(self._vault.root())
        try:
            for path in gone:
                if reach.absent(path):
                    self._store.remove(path)
                    result.removed += 1
        finally:
            reach.close()

    def _without_reading(self, each: OnDisk) -> Unfit | State | None:
        """What a file is if that can be told without its content."""
        if self._ignored(each.path):
            return State.IGNORED
        if not each.path.lower().endswith(TEXT_EXTENSIONS):
            return State.NAMED
        if not each.regular:
            return Unfit("It's a pipe, socket or device.")
        if each.signature.size > self._largest:
            return Unfit(
                f"It has {each.signature.size:,} bytes; over {self._largest:,} only the name is"
                " indexed."
            )
        return None

    def _read(
        self,
        jobs: list[tuple[OnDisk, Known]],
        pending: dict[str, _Pending],
        result: Pass,
        give_way: Callable[[], None],
    ) -> Iterator[Batch]:
        """Read files and yield those whose content changed, in batches."""
        batch: Batch = []
        size = 0
        reach = Reach(self._vault.root())
        try:
            for each, known in jobs:
                give_way()
                if self._stopping:
                    break
                data = self._changed_content(reach, each, known, pending, result)
                if data is None:
                    continue
                batch.append(Job(each.path, data))
                size += len(data)
                if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
        finally:
            reach.close()
        if batch:
            yield batch

    def _changed_content(
        self,
        reach: Reach,
        each: OnDisk,
        known: Known,
        pending: dict[str, _Pending],
        result: Pass,
    ) -> bytes | None:
        """The file's bytes if they aren't those that the index has."""
        try:
            place = reach.find(each.path)
            if place is None:
                return None  # Gone since; the next pass takes it out.
            signature, data = read(*place, self._largest)
        except ErisError as error:
            # What was indexed before it became unreadable is kept. Either way the next pass tries
            # again, for a change of permissions doesn't show in the signature.
            if known.state is not State.INDEXED:
                never = Signature(-1, -1, -1)
                self._put_directly(each.path, known, never, Unfit(error.message), result)
            return None
        result.read += 1
        if data is None:
            reason = f"It has over {self._largest:,} bytes; only the name is indexed."
            self._put_directly(each.path, known, signature, Unfit(reason), result)
            return None
        if self._clock_ns() - signature.mtime_ns < _TICK_NS:
            # Another write within the same tick of the disk's clock couldn't be told from this one:
            # next time, it's read again.
            signature = replace(signature, inode=-1)
        digest = hashlib.blake2b(data, digest_size=16).digest()
        with self._lock:
            same = known.state is State.INDEXED and self._store.digest(known) == digest
            if same:
                with self._transaction():
                    self._store.touch(known, signature)
                return None
        pending[each.path] = _Pending(known, signature, digest)
        return data

    def _put_directly(
        self, path: str, known: Known, signature: Signature, content: Unfit, result: Pass
    ) -> None:
        with self._transaction():
            self._put(path, known, signature, content, result)

    def _put(
        self,
        path: str,
        known: Known,
        signature: Signature,
        content: Extract | Unfit | State,
        result: Pass,
        digest: bytes | None = None,
    ) -> None:
        if self._store.find(path) != known:
            # Another thread was faster, and maybe with something older: it's looked at again.
            result.overtaken.append(path)
            return
        self._store.put(path, known, signature, content, digest)
        self.written += 1
        result.changed += 1

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        connection = self._store.connection
        with self._lock:
            try:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    connection.execute("ROLLBACK")
                    self._store.forget_changes(self._store.known())
                    raise
                connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StorageError(
                    f"The index can't be written: {error}.",
                    hint="Free some space on the disk of the state folder, then try again.",
                ) from error

    def close(self) -> None:
        """Close the database, when passes under way have ended."""
        self.stop()
        with self._one_at_a_time, self._lock:
            self._store.connection.close()


def _go_on() -> None:
    pass


def may_be_indexed(path: str) -> bool:
    """Whether a path has no hidden name in it, such as those of settings and unfinished writes."""
    parts = path.split("/")
    return all(parts) and not any(
        is_hidden(part) or TEMPORARY_NAME.fullmatch(part) for part in parts
    )


def _within(path: str, folders: list[str]) -> bool:
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)
