"""From messages to tokens, with an exact count for each segment.

The rendered prompt is tokenised once, as a whole, and each token belongs to the segment in which
its first byte lies; so the counts sum to the total. Text that imitates the template's markup
inside a message (``<|im_end|>`` in a note) is read as plain text: nobody ends a message from
within.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from actors.inference.native import NativeModel
from actors.inference.template import TEMPLATE_SEGMENT, ChatTemplate, Span
from proto.inference import Message


@dataclass(frozen=True)
class Prompt:
    """A prompt ready for the model."""

    tokens: tuple[int, ...]
    segments: dict[str, int]
    """Tokens by segment; they sum to ``len(tokens)``."""


class PromptBuilder:
    """Renders and tokenises prompts for one model. May be used from any thread."""

    def __init__(self, model: NativeModel, template: ChatTemplate) -> None:
        self._model = model
        self._template = template
        special = model.special
        # Longest first, so that an alternative never hides a longer one.
        texts = sorted(special.markup, key=len, reverse=True)
        self._markup: Final = re.compile("|".join(re.escape(text) for text in texts) or r"(?!)")
        self._beginning: Final = model.text_of(special.beginning) if special.add_beginning else ""

    def build(self, messages: Sequence[Message]) -> Prompt:
        """Return the prompt that asks for the assistant's next message.

        Raises:
            InvalidError: There is no message, or a role is unknown.
            ModelError: The model's template refuses these messages.
        """
        spans = self._template.render(messages)
        # A template may print the beginning token itself; it must not be there twice.
        if self._beginning and not spans[0].text.startswith(self._beginning):
            spans.insert(0, Span(TEMPLATE_SEGMENT, self._beginning))
        tokens: list[int] = []
        lengths: list[int] = []
        for text, markup in self._stretches(spans):
            for token in self._model.tokenize(text, markup=markup):
                tokens.append(token)
                lengths.append(len(self._model.piece(token, markup=True)))
        return Prompt(tokens=tuple(tokens), segments=attribute(lengths, spans))

    def count(self, text: str) -> int:
        """Return how many tokens a text has on its own."""
        return len(self._model.tokenize(text, markup=False))

    def cut(self, text: str, limit: int) -> int:
        """Return how many characters of a text have at most ``limit`` tokens, as a prefix."""
        tokens = self._model.tokenize(text, markup=False)
        if len(tokens) <= limit:
            return len(text)
        kept = b"".join(self._model.piece(token, markup=True) for token in tokens[: max(limit, 0)])
        characters = min(len(kept.decode("utf-8", "ignore")), len(text))
        # A prefix may be tokenised differently at its end; step back until it fits.
        while characters > 0 and self.count(text[:characters]) > limit:
            characters -= 1
        return characters

    def _stretches(self, spans: Sequence[Span]) -> Iterator[tuple[str, bool]]:
        """Cut the prompt into as few pieces as possible, at imitated markup only."""
        pending = ""
        for span in spans:
            if span.segment == TEMPLATE_SEGMENT:
                pending += span.text
                continue
            cursor = 0
            for match in self._markup.finditer(span.text):
                pending += span.text[cursor : match.start()]
                if pending:
                    yield pending, True
                yield match.group(), False
                pending, cursor = "", match.end()
            pending += span.text[cursor:]
        if pending:
            yield pending, True


def attribute(lengths: Sequence[int], spans: Sequence[Span]) -> dict[str, int]:
    """Count tokens by the segment in which their first byte lies.

    Args:
        lengths: Bytes of each token.
        spans: The text, cut into segments.
    """
    counts = dict.fromkeys((span.segment for span in spans), 0)
    ends, total = [], 0
    for span in spans:
        total += len(span.text.encode("utf-8", "surrogatepass"))
        ends.append(total)
    index, position = 0, 0
    for length in lengths:
        while index < len(spans) - 1 and position >= ends[index]:
            index += 1
        counts[spans[index].segment] += 1
        position += length
    return counts
