"""How many chunks have a word: asked for each word of each question, so it's kept in memory.

The full-text table reads through all places of a word to count the chunks it's in, which takes
3 ms for a common one among 20,000 chunks; reading all words at once takes 120 ms.
"""

import sqlite3
from bisect import bisect_left
from itertools import accumulate

_AFTER_ALL = "\U0010ffff"


class Vocabulary:
    """The words of all live chunks, as they were when they were counted last."""

    def __init__(self) -> None:
        self.chunks = 0
        """Chunks there were then."""
        self._words: list[str] = []
        self._sums = [0]

    def refresh(self, connection: sqlite3.Connection) -> bool:
        """Count anew if there's a tenth more or less: how rare a word is changes slowly.

        Returns:
            Whether it was counted anew.
        """
        # Counting the rows of the full-text table itself reads all of them.
        (chunks,) = connection.execute("SELECT count(*) FROM words_docsize").fetchone()
        if abs(chunks - self.chunks) * 10 <= self.chunks:
            return False
        rows = connection.execute("SELECT term, doc FROM vocabulary ORDER BY term").fetchall()
        self.chunks = chunks
        self._words = [word for word, _ in rows]
        self._sums = list(accumulate((number for _, number in rows), initial=0))
        return True

    def having(self, word: str, *, longer: bool = False) -> int:
        """Return how many chunks have a word; roughly, if longer ones that begin with it count."""
        first = bisect_left(self._words, word)
        if longer:
            end = bisect_left(self._words, word + _AFTER_ALL, first)
        else:
            end = first + (self._words[first : first + 1] == [word])
        return self._sums[end] - self._sums[first]
