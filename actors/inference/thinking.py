"""The `<think>` part of models that reason before they answer."""

from collections.abc import Sequence
from typing import Final

from actors.inference.native import NativeModel
from actors.inference.text import CharacterStream

OPEN: Final = "<think>"
CLOSE: Final = "</think>"
_AFTER: Final = "\n\n"
"""Stands between reasoning and answer in what such models were trained on."""
_LOOK_BACK: Final = 8
CLOSING_TOKENS: Final = 8
"""At most so many tokens end the reasoning, beyond its limit."""


def thinks(model: NativeModel, template: str) -> bool:
    """Tell whether a model may reason: its template or its vocabulary has the mark."""
    return OPEN in template or OPEN.encode() in model.pieces


class Thinking:
    """Reasoning of one generation: free of the grammar, up to a limit, never part of the answer.

    Attributes:
        tokens: What the model computed or was given for it.
        over: Whether the answer comes now.
    """

    def __init__(self, model: NativeModel, prompt: Sequence[int], limit: int) -> None:
        """Prepare; ``limit`` is in tokens."""
        self.tokens: list[int] = []
        self._model = model
        self._limit = limit
        self._characters = CharacterStream()
        self._text = ""
        self._open = self._opened_by(prompt)
        self.over = not self._open and limit <= 0

    def next(self, likeliest: int) -> list[int] | None:
        """Say what to compute without asking the sampler; None if it has to be asked.

        Args:
            likeliest: The model's first choice now.
        """
        if not self._open:
            self._open = self._text_of(likeliest).strip() == OPEN
            self.over = not self._open
            return [likeliest] if self._open else []
        if len(self.tokens) >= self._limit or likeliest in self._model.special.end:
            return self._close(CLOSE + _AFTER if self._limit <= 0 else f"\n{CLOSE}{_AFTER}")
        return None

    def saw(self, token: int) -> tuple[list[int], str]:
        """Take a picked token; returns what to compute, and the text to show of it."""
        text = self._characters.feed(self._model.piece(token, markup=True))
        self._text += text
        if CLOSE not in self._text[-len(text) - len(CLOSE) :]:
            return [token], text
        return [token, *self._close(_AFTER)], ""

    def computed(self, tokens: Sequence[int]) -> None:
        """Note what was computed."""
        self.tokens.extend(tokens)

    def _close(self, text: str) -> list[int]:
        self.over = True
        return self._model.tokenize(text, markup=True)

    def _opened_by(self, prompt: Sequence[int]) -> bool:
        end = "".join(self._text_of(token) for token in prompt[-_LOOK_BACK:])
        return end.rstrip().endswith(OPEN)

    def _text_of(self, token: int) -> str:
        return self._model.text_of(token)
