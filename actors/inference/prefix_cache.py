"""The KV cache as a list of tokens: keeps the longest common prefix, computes the rest.

Several sessions share it. Whoever comes next keeps what it has in common with what is there; if
the session's own saved state has more, that is loaded instead (some 10 ms for 16 MiB).
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from actors.inference.native import Logits, NativeContext
from actors.inference.state_store import SavedState, StateStore
from eris.logs import Logger

_POLL_SECONDS: Final = 0.01
_NOWHERE: Final = -1
_WORTH_LOADING: Final = 32
"""A saved state must have this many tokens more than memory to be loaded instead."""

_LOGIT_TOLERANCE: Final = 0.25
"""Computing one token alone or in a batch rounds differently; a wrong state is off by far more."""


class Interrupt:
    """Says whether to stop, from any of several events."""

    def __init__(self, *events: threading.Event) -> None:
        self._events = events

    @property
    def requested(self) -> bool:
        """Whether one of the events is set."""
        return any(event.is_set() for event in self._events)

    def wait(self, seconds: float) -> bool:
        """Wait for one of the events, at most so long."""
        if len(self._events) == 1:
            return self._events[0].wait(seconds)
        self._events[0].wait(seconds)
        return self.requested


@dataclass(frozen=True)
class Brought:
    """How the cache came to hold a token sequence."""

    cached: int
    """Tokens that were there already, in memory or on disk."""
    computed: int
    complete: bool
    """False if it was interrupted; what was computed until then is kept."""


class PrefixCache:
    """One native context and what it holds. Belongs to one thread at a time."""

    def __init__(
        self,
        context: NativeContext,
        store: StateStore | None,
        log: Logger,
    ) -> None:
        self._context = context
        self._store = store
        self._log = log
        self._tokens: list[int] = []
        self._session = ""
        self._unsaved = False
        self._logits_after = _NOWHERE
        self._trusted: set[str] = set()

    @property
    def batch(self) -> int:
        """The most tokens of one pass."""
        return self._context.batch

    @property
    def tokens(self) -> tuple[int, ...]:
        """What the cache holds."""
        return tuple(self._tokens)

    def bring(
        self,
        tokens: Sequence[int],
        session: str,
        interrupt: Interrupt,
        progress: Callable[[int, int], None] | None = None,
    ) -> Brought:
        """Make the cache hold exactly ``tokens``, with logits for the last one.

        Args:
            tokens: At least one; at most the context's length.
            session: Whose tokens they are.
            interrupt: Checked between passes, and within them by llama.cpp.
            progress: Called after each pass with the tokens done and the tokens in all.
        """
        kept = self._keep(tokens, session)
        done = kept
        with self.obeying(interrupt):
            while done < len(tokens):
                batch = tokens[done : done + self._context.batch]
                if interrupt.requested or not self._compute(batch):
                    return Brought(cached=kept, computed=done - kept, complete=False)
                done += len(batch)
                if progress is not None:
                    progress(done, len(tokens))
        return Brought(cached=kept, computed=done - kept, complete=True)

    def append(
        self, tokens: Sequence[int], interrupt: Interrupt, draft: Sequence[int] = ()
    ) -> bool:
        """Compute tokens after those that are there; False if it was interrupted.

        Args:
            tokens: What follows.
            interrupt: Checked between passes, and within them by llama.cpp.
            draft: What may follow then, computed in the same pass as the last of ``tokens``; with
                them it's no longer than `batch`. There are logits after each of these.
        """
        size = self._context.batch
        for start in range(0, len(tokens), size):
            ahead = draft if start + size >= len(tokens) else ()
            batch = [*tokens[start : start + size], *ahead]
            if interrupt.requested or not self._compute(batch, len(ahead) + 1):
                return False
        return True

    def drop(self, count: int) -> None:
        """Forget the last tokens."""
        if count:
            self._truncate(len(self._tokens) - count)

    @contextmanager
    def obeying(self, interrupt: Interrupt) -> Iterator[None]:
        """Within this, an interrupt stops a running pass, not only the next one."""
        flag = self._context.abort
        lock = threading.Lock()
        over = threading.Event()

        def watch() -> None:
            while not interrupt.wait(_POLL_SECONDS):
                if over.is_set():
                    return
            with lock:
                if not over.is_set():
                    flag.set()

        flag.clear()
        thread = threading.Thread(target=watch, name="interrupt", daemon=True)
        thread.start()
        try:
            yield
        finally:
            with lock:
                over.set()
                flag.clear()

    def logits(self, before: int = 0) -> Logits:
        """Return the logits after the last token but ``before``, valid until the next pass."""
        return self._context.logits(before)

    def save(self) -> None:
        """Write the session's state to disk, if it changed since it was last written."""
        if self._store is None or not self._unsaved or not self._session or not self._tokens:
            return
        if self._logits_after != len(self._tokens):
            last = self._tokens[-1]
            self._truncate(len(self._tokens) - 1)
            if not self._compute([last]):
                return
        likeliest = int(self.logits().argmax())
        if self._store.save(self._session, self._context, self._tokens, likeliest):
            self._trusted.add(self._session)
        self._unsaved = False

    def clear(self) -> None:
        """Forget what is in memory."""
        self._truncate(0)
        self._unsaved = False

    def _compute(self, tokens: Sequence[int], outputs: int = 1) -> bool:
        before = len(self._tokens)
        computed = False
        try:
            computed = self._context.decode(tokens, before, outputs)
        finally:
            if not computed:
                self._truncate(before)
        if computed:
            self._tokens.extend(tokens)
            self._logits_after = len(self._tokens)
            self._unsaved = True
        return computed

    def _truncate(self, position: int) -> None:
        """Forget the tokens from ``position`` on; all of them if the model can't do that."""
        kept = position if self._context.truncate(position) else 0
        del self._tokens[kept:]
        self._logits_after = _NOWHERE
        self._unsaved = True

    def _keep(self, tokens: Sequence[int], session: str) -> int:
        """Reduce the cache to the longest prefix of ``tokens`` that can be had."""
        common = _common_prefix(self._tokens, tokens)
        saved = self._store.find(session) if self._store and session != self._session else None
        if (
            self._store
            and saved
            and _common_prefix(saved.tokens, tokens) >= common + _WORTH_LOADING
        ):
            self.save()
            self._load(self._store, session, saved)
            common = _common_prefix(self._tokens, tokens)
        elif session != self._session:
            self.save()
        # The last token is computed again if all are there: only a pass leaves logits.
        common = min(common, len(tokens) - 1)
        if common < len(self._tokens):
            self._truncate(common)
        self._session = session
        return len(self._tokens)

    def _load(self, store: StateStore, session: str, saved: SavedState) -> None:
        """Load a saved state; one from another process is checked by its next token.

        If it's no good, the cache is empty afterwards.
        """
        self._tokens.clear()
        self._unsaved = False
        if not store.load(session, self._context, saved):
            return
        self._tokens.extend(saved.tokens)
        self._logits_after = _NOWHERE
        if session not in self._trusted and not self._verified(saved):
            self._log.warning("kv state is wrong", session=session, tokens=len(saved.tokens))
            store.forget(session)
            self.clear()
            return
        self._trusted.add(session)

    def _verified(self, saved: SavedState) -> bool:
        """Compute the last token of a loaded state again and compare what comes next."""
        self._truncate(len(self._tokens) - 1)
        if not self._compute(saved.tokens[len(self._tokens) :]):
            return False
        logits = self.logits()
        self._unsaved = False
        return bool(
            0 <= saved.likeliest < logits.size
            and logits[saved.likeliest] >= logits.max() - _LOGIT_TOLERANCE
        )


def _common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count
