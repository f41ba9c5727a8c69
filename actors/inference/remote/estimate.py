"""How many tokens a text has where the server doesn't say: guessed, rather too many than too few.

The guess is a share of the text's bytes. It begins with what no usual tokeniser exceeds on prose
and JSON, and follows what the server reports of whole prompts.
"""

import math
import threading
from collections.abc import Sequence
from typing import Final

from actors.inference.template import TEMPLATE_SEGMENT
from proto.inference import Message, TextCounts, TokenCounts, TokenizeText

FIRST_RATE: Final = 0.4
"""Tokens for each byte before anything is known: 2.5 bytes a token."""

MARKUP: Final = 8
"""Tokens of a chat template around one message."""

_MARGIN: Final = 1.1
_LOWEST, _HIGHEST = 0.2, 1.0
_ENOUGH: Final = 400
"""Bytes from which on a prompt says something about others."""


class TokenEstimate:
    """Counts for one model. May be used from any thread."""

    def __init__(self) -> None:
        self._rate = FIRST_RATE
        self._seen = 0.0
        self._lock = threading.Lock()

    def text(self, text: str) -> int:
        """Return about how many tokens a text has."""
        return math.ceil(len(text.encode("utf-8", "surrogatepass")) * self._rate)

    def texts(self, body: TokenizeText) -> TextCounts:
        """Return the counts of some texts, and where to cut them."""
        cuts = tuple(self._cut(text, body.limit) for text in body.texts) if body.limit > 0 else ()
        return TextCounts(counts=tuple(map(self.text, body.texts)), cuts=cuts)

    def prompt(self, messages: Sequence[Message]) -> TokenCounts:
        """Return the counts of a prompt by segment."""
        segments = {TEMPLATE_SEGMENT: MARKUP * (len(messages) + 1)}
        for message in messages:
            for part in message.parts:
                segments[part.segment] = segments.get(part.segment, 0) + self.text(part.text)
        return TokenCounts(total=sum(segments.values()), segments=segments)

    def learn(self, messages: Sequence[Message], reported: int) -> None:
        """Take what the server says that a prompt has; its largest share so far counts."""
        size = sum(len(part.text.encode()) for message in messages for part in message.parts)
        if size < _ENOUGH or reported <= 0:
            return
        with self._lock:
            self._seen = max(self._seen, reported / size)
            self._rate = min(max(self._seen * _MARGIN, _LOWEST), _HIGHEST)

    def _cut(self, text: str, limit: int) -> int:
        kept = text.encode("utf-8", "surrogatepass")[: int(limit / self._rate)]
        return len(kept.decode("utf-8", "ignore"))
