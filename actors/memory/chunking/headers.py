"""What is embedded in front of a chunk: title, headings, tags and date, in few tokens."""

from collections.abc import Sequence

from actors.memory.chunking.chunk import TokenCount

SEPARATOR = " > "
_PARTS = ", "
_SHARE = 3
"""A header takes at most one third of a chunk."""
_MOST_CHARACTERS = 300


def most_header_tokens(limit: int) -> int:
    """Return how many tokens of a chunk of this size its header may have."""
    return limit // _SHARE


class Headers:
    """Makes the headers of one source, each as short as it has to be."""

    def __init__(self, title: str, details: Sequence[str], count: TokenCount, limit: int) -> None:
        """Prepare to make headers.

        Args:
            title: Of the note or document.
            details: What follows the headings, the least important ones last.
            count: The embedder's tokenizer.
            limit: Tokens of a header.
        """
        self._title = " ".join(title.split())[:_MOST_CHARACTERS]
        self._details = [each for each in details if each]
        self._count = count
        self._limit = limit
        self._made: dict[tuple[str, ...], tuple[str, int]] = {}

    def make(self, paths: Sequence[tuple[str, ...]]) -> None:
        """Make the headers for these headings, the tokens of all of them counted at once."""
        new = [path for path in dict.fromkeys(paths) if path not in self._made]
        if not new:
            return
        special = self._count([""])[0]
        shortest = len(self._details) + 2
        for step in range(shortest + 1):
            texts = [self._text(path, step) for path in new]
            tokens = self._count(texts)
            for path, text, number in zip(new, texts, tokens, strict=True):
                if number - special <= self._limit or step == shortest:
                    self._made[path] = (text, max(0, number - special))
            new = [path for path in new if path not in self._made]
            if not new:
                return

    def text(self, path: tuple[str, ...]) -> str:
        """Return the header for these headings."""
        self.make([path])
        return self._made[path][0]

    def tokens(self, path: tuple[str, ...]) -> int:
        """Return how many tokens it has."""
        self.make([path])
        return self._made[path][1]

    def _text(self, path: tuple[str, ...], step: int) -> str:
        """Return a header, with more left out the higher the step."""
        kept = len(self._details) - step
        names = [self._title, *path]
        if path and path[0].casefold() == self._title.casefold():
            names = list(path)
        names = [each for each in names if each]
        if kept >= 0:
            return _PARTS.join([SEPARATOR.join(names), *self._details[:kept]]).removeprefix(_PARTS)
        if kept == -1:
            return SEPARATOR.join([*names[:1], *names[1:][-1:]])
        # The limit is tokens, and a token has at least a character almost everywhere.
        return "".join(names[:1])[: max(0, self._limit)]
