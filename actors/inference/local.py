"""The engine in this process, as the actor sees it: Eris's own way to decode."""

import threading
from pathlib import Path
from typing import Final

from actors.inference.engine import Engine
from actors.inference.forms import PREFERRED
from actors.inference.ports import Opened
from actors.inference.prompt import Prompt
from actors.inference.sampling import Sampling
from eris.models.catalogue import catalogue
from proto.inference import (
    Generate,
    Message,
    ModelDescription,
    TextCounts,
    TokenCounts,
    TokenizeText,
)

NAME: Final = "llama.cpp"


class LocalEngine:
    """An `Engine` behind the port."""

    distant: Final = False

    def __init__(
        self, engine: Engine, chosen: str, *, name: str = NAME, form: str = PREFERRED
    ) -> None:
        """Take an engine over.

        Args:
            engine: Is closed with this.
            chosen: Setting ``model.chat``.
            name: Setting ``model.engine``.
            form: Form of JSON that the model finds likeliest.
        """
        self.engine: Final = engine
        self._chosen = chosen
        self._name = name
        self._form = form

    def describe(self) -> ModelDescription:
        """Return what is loaded."""
        info = self.engine.info
        return ModelDescription(
            name=_catalogue_name(self._chosen, info.path),
            path=str(info.path),
            context_length=info.context_length,
            trained_context_length=info.trained_context_length,
            vocabulary=info.vocabulary,
            parameters=info.parameters,
            size_bytes=info.size_bytes,
            threads=info.threads,
            load_seconds=info.load_seconds,
            template=info.template,
            engine=self._name,
            form=self._form,
        )

    def count(self, messages: tuple[Message, ...]) -> TokenCounts:
        """Return the tokens of a prompt; raises like `Engine.count`."""
        return counts_of(self.engine.count(messages))

    def count_texts(self, body: TokenizeText) -> TextCounts:
        """Return the tokens of some texts."""
        prompts, limit = self.engine.prompts, body.limit
        return TextCounts(
            counts=tuple(prompts.count(text) for text in body.texts),
            cuts=tuple(prompts.cut(text, limit) for text in body.texts) if limit > 0 else (),
        )

    def open(self, body: Generate, cancelled: threading.Event) -> Opened:
        """Prepare an answer; raises like `Engine.open`."""
        prompt = self.engine.count(body.messages)
        generation = self.engine.open(
            prompt,
            session=body.session,
            cancelled=cancelled,
            grammar=body.grammar,
            max_tokens=body.max_tokens,
            min_answer_tokens=body.min_answer_tokens,
            sampling=Sampling(
                temperature=body.temperature,
                top_k=body.top_k,
                top_p=body.top_p,
                min_p=body.min_p,
                repeat_penalty=body.repeat_penalty,
                dry_multiplier=body.dry_multiplier,
                dry_base=body.dry_base,
                dry_allowed_length=body.dry_allowed_length,
                seed=body.seed,
            ),
            ending=body.ending,
            think_tokens=body.think_tokens,
            call_bias=body.call_bias,
            more_calls_bias=body.more_calls_bias,
        )
        return Opened(generation, counts_of(prompt))

    def save_state(self) -> None:
        """Write the KV state of the current session to disk, if it changed."""
        self.engine.save_state()

    def close(self) -> None:
        """Free the model."""
        self.engine.close()


def counts_of(prompt: Prompt) -> TokenCounts:
    """Return the counts of a prompt as they travel."""
    return TokenCounts(total=len(prompt.tokens), segments=prompt.segments)


def _catalogue_name(chosen: str, path: Path) -> str:
    return chosen if any(entry.name == chosen for entry in catalogue()) else path.stem
