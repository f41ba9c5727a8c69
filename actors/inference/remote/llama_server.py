"""llama.cpp's own server: prompts in tokens, counted exactly, grammars as GBNF."""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from actors.inference.ports import Opened
from actors.inference.prompt import Prompt, attribute
from actors.inference.remote.address import Address
from actors.inference.remote.server import RemoteEngine
from actors.inference.remote.writing import Piece
from actors.inference.template import TEMPLATE_SEGMENT, ChatTemplate, Span
from actors.inference.thinking import CLOSE, OPEN
from eris.config import ModelSettings
from eris.errors import ErisError, ProtocolError
from eris.logs import Logger
from proto.inference import (
    Ending,
    FinishReason,
    Generate,
    Message,
    ModelDescription,
    Part,
    TextCounts,
    TokenCounts,
    TokenizeText,
)

_FRESH_SECONDS: Final = 5.0
_LIKE_MARKUP: Final = re.compile(r"<[^<>\s]{1,60}>|\[/?[A-Z_]{2,}\]")
_PROBE: Final = (
    Message(role="system", parts=(Part(segment="probe", text="One."),)),
    Message(role="user", parts=(Part(segment="probe", text="Two?"),)),
    Message(role="assistant", parts=(Part(segment="probe", text="Three."),)),
    Message(role="user", parts=(Part(segment="probe", text="Four?"),)),
)


@dataclass(frozen=True)
class _Facts:
    """What runs there now."""

    description: ModelDescription
    template: ChatTemplate
    source: tuple[str, ...]
    """What the template was made from: its text, the beginning and the end token."""
    until: float
    """When the server has to be asked anew: it may have been restarted with another model."""

    @property
    def beginning(self) -> str:
        """Text of the token that begins a prompt, if there is one."""
        return self.source[1]


class LlamaServer(RemoteEngine):
    """A `llama-server`."""

    start: Final = "Start it, such as: llama-server -m MODEL.gguf -c 8192 --port 8080."
    exact = True
    by_grammar: Final = True

    def __init__(
        self,
        settings: ModelSettings,
        address: Address,
        log: Logger,
        remark: Callable[[str], None],
    ) -> None:
        super().__init__(settings, address, log, remark)
        self._facts: _Facts | None = None
        self._reserves: dict[Ending, int] = {}

    @property
    def model_name(self) -> str:
        """What the server calls its model, as far as it's known."""
        return self._facts.description.name if self._facts else ""

    def forget(self) -> None:
        """Ask the server anew what it runs: it may be another one now."""
        self._facts = None
        self._reserves = {}

    def describe(self) -> ModelDescription:
        """Return what the server runs, asked anew: its context isn't what a file says."""
        self.forget()
        return replace(self._known().description, note=self.note)

    def count(self, messages: tuple[Message, ...]) -> TokenCounts:
        """Return the tokens of a prompt, counted by the server."""
        prompt = self._prompt(messages)
        return TokenCounts(total=len(prompt.tokens), segments=prompt.segments)

    def count_texts(self, body: TokenizeText) -> TextCounts:
        """Return the tokens of some texts, counted by the server."""
        found = [self._tokens(text) for text in body.texts]
        cuts: tuple[int, ...] = ()
        if body.limit > 0:
            pairs = zip(body.texts, found, strict=True)
            cuts = tuple(self._cut(text, tokens, body.limit) for text, tokens in pairs)
        return TextCounts(counts=tuple(map(len, found)), cuts=cuts)

    def open(self, body: Generate, cancelled: threading.Event) -> Opened:
        """Prepare an answer."""
        prompt = self._prompt(body.messages)
        reserve = self._reserve(body.ending) if body.ending else 0
        return self.opened(
            body,
            cancelled,
            TokenCounts(total=len(prompt.tokens), segments=prompt.segments),
            self._known().description.context_length,
            reserve,
            lambda limit, form: ("/completion", _request(body, prompt.tokens, limit, form=form)),
            _read,
        )

    def _known(self) -> _Facts:
        known = self._facts
        if known is None or time.monotonic() > known.until:
            known = self._facts = self._ask_facts(known)
        return known

    def _ask_facts(self, before: _Facts | None) -> _Facts:
        props = self.client.ask("/props")
        listed = self.client.ask("/v1/models").get("data") or [{}]
        meta = listed[0].get("meta") or {}
        defaults = props.get("default_generation_settings") or {}
        context = int(defaults.get("n_ctx") or props.get("n_ctx") or meta.get("n_ctx") or 0)
        if context <= 0:
            raise ProtocolError(
                f"The server at {self.address} doesn't say how long its context is.",
                hint='model.engine = "llama-server" needs llama.cpp\'s own server; for others '
                'there is "openai".',
            )
        path = str(props.get("model_path") or "")
        # A path is all that a server without an alias has for a name.
        name = str(props.get("model_alias") or listed[0].get("id") or path).rsplit("/", 1)[-1]
        source = tuple(
            str(props.get(key) or "") for key in ("chat_template", "bos_token", "eos_token")
        )
        if before is not None and before.source == source:
            template = before.template
        else:
            template = ChatTemplate(source[0] or None, beginning=source[1], end=source[2])
            self._compare_templates(template)
        return _Facts(
            ModelDescription(
                name=name,
                path=path,
                context_length=context,
                trained_context_length=int(meta.get("n_ctx_train") or 0),
                vocabulary=int(meta.get("n_vocab") or 0),
                parameters=int(meta.get("n_params") or 0),
                size_bytes=int(meta.get("size") or 0),
                threads=0,
                load_seconds=0.0,
                template=template.name,
                engine=self.settings.engine,
                url=str(self.address),
            ),
            template,
            source,
            time.monotonic() + _FRESH_SECONDS,
        )

    def _compare_templates(self, template: ChatTemplate) -> None:
        """See whether the server's template gives the same text here as there."""
        turns = [{"role": message.role, "content": message.parts[0].text} for message in _PROBE]
        try:
            theirs = str(self.client.ask("/apply-template", {"messages": turns}).get("prompt"))
            ours = "".join(span.text for span in template.render(_PROBE))
        except ErisError as error:
            self.log.info("template-not-compared", reason=error.message)
            return
        if not ours.endswith(theirs):
            self.say(
                "renders-differently",
                f"The chat template of the server at {self.address} gives another text here than "
                "there: answers may be worse.",
            )

    def _prompt(self, messages: Sequence[Message]) -> Prompt:
        facts = self._known()
        spans = facts.template.render(messages)
        text = "".join(span.text for span in spans)
        if text.rstrip().endswith(OPEN):
            # The grammar begins with the answer, so there is no room for reasoning before it.
            spans.append(Span(TEMPLATE_SEGMENT, f"\n{CLOSE}\n\n"))
        printed = bool(facts.beginning) and text.startswith(facts.beginning)
        found: list[tuple[int, int]] = []
        for index, (stretch, markup) in enumerate(self._stretches(spans)):
            begin = index == 0 and not printed
            found += self._tokens(stretch, markup=markup, begin=begin)
        added = sum(length for _, length in found) - sum(len(span.text.encode()) for span in spans)
        if added > 0:  # the token that begins a prompt
            spans.insert(0, Span(TEMPLATE_SEGMENT, " " * added))
        return Prompt(
            tokens=tuple(token for token, _ in found),
            segments=attribute([length for _, length in found], spans),
        )

    def _stretches(self, spans: Sequence[Span]) -> Iterator[tuple[str, bool]]:
        """Cut the prompt into as few pieces as possible: where a message imitates markup.

        Such text is read as plain text, so that nobody ends a message from within.
        """
        pending = ""
        for span in spans:
            if span.segment == TEMPLATE_SEGMENT or not self._imitates(span.text):
                pending += span.text
                continue
            if pending:
                yield pending, True
            yield span.text, False
            pending = ""
        if pending:
            yield pending, True

    def _imitates(self, text: str) -> bool:
        if not _LIKE_MARKUP.search(text):
            return False
        return self._tokens(text, markup=True) != self._tokens(text)

    def _tokens(
        self, text: str, *, markup: bool = False, begin: bool = False
    ) -> list[tuple[int, int]]:
        """Return the tokens of a text, each with its length in bytes."""
        if not text:
            return []
        body = {
            "content": text,
            "add_special": begin,
            "parse_special": markup,
            "with_pieces": True,
        }
        tokens = self.client.ask("/tokenize", body).get("tokens")
        if not isinstance(tokens, list):
            raise ProtocolError(f"The server at {self.address} doesn't tokenise texts.")
        return [(int(token["id"]), _length(token["piece"])) for token in tokens]

    def _cut(self, text: str, tokens: Sequence[tuple[int, int]], limit: int) -> int:
        """Return how many characters of a text have at most ``limit`` tokens, as a prefix."""
        if len(tokens) <= limit:
            return len(text)
        kept = text.encode()[: sum(length for _, length in tokens[:limit])]
        characters = len(kept.decode("utf-8", "ignore"))
        # A prefix may be tokenised differently at its end; step back until it fits.
        while characters > 0 and len(self._tokens(text[:characters])) > limit:
            characters -= 1
        return characters

    def _reserve(self, ending: Ending) -> int:
        known = self._reserves.get(ending)
        if known is None:
            known = self._reserves[ending] = len(self._tokens(ending.rests[0]))
        return known


def _request(body: Generate, prompt: Sequence[int], limit: int, *, form: bool) -> dict[str, Any]:
    request: dict[str, Any] = {
        "prompt": list(prompt),
        "n_predict": limit,
        "stream": True,
        "cache_prompt": True,
        "temperature": body.temperature,
        "top_k": body.top_k,
        "top_p": body.top_p,
        "min_p": body.min_p,
        "repeat_penalty": body.repeat_penalty,
        "dry_multiplier": body.dry_multiplier,
        "dry_base": body.dry_base,
        "dry_allowed_length": body.dry_allowed_length,
        "seed": body.seed,
    }
    if form and body.grammar:
        request["grammar"] = body.grammar
    return request


def _read(event: dict[str, Any]) -> Piece:
    error = event.get("error")
    if error:
        said = error.get("message") if isinstance(error, dict) else error
        raise ProtocolError(f"The model server failed while it answered: {said}.")
    text = str(event.get("content") or "")
    generated = event.get("tokens_predicted")
    if not event.get("stop"):
        return Piece(text=text, generated=generated)
    timings = event.get("timings") or {}
    milliseconds = timings.get("prompt_ms")
    return Piece(
        text=text,
        generated=generated,
        prompt=event.get("tokens_evaluated"),
        cached=timings.get("cache_n"),
        prefill_seconds=milliseconds / 1000 if milliseconds is not None else None,
        finish=FinishReason.LENGTH if event.get("stop_type") == "limit" else FinishReason.STOP,
        cut_prompt=bool(event.get("truncated")) and event.get("stop_type") != "limit",
        last=True,
    )


def _length(piece: object) -> int:
    """Return the bytes of a token: text, or a list of bytes where it isn't whole characters."""
    return len(piece.encode()) if isinstance(piece, str) else len(piece)  # type: ignore[arg-type]
