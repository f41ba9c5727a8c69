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
        self._counted: tuple[list[str], list[int]] = ([], [0])
        """The words in order, and how many chunks have one before each; replaced as one, for
        several threads ask."""

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
        sums = accumulate((number for _, number in rows), initial=0)
        self._counted = ([word for word, _ in rows], list(sums))
        self.chunks = chunks
        return True

    def having(self, word: str, *, longer: bool = False) -> int:
        """Return how many chunks have a word; roughly, if longer ones that begin with it count."""
        words, sums = self._counted
        first = bisect_left(words, word)
        if longer:
            end = bisect_left(words, word + _AFTER_ALL, first)
        else:
            end = first + (words[first : first + 1] == [word])
        return sums[end] - sums[first]
