"""Chat templates: from messages to the text that the model was trained on.

The file's own Jinja template runs in a sandbox, for a model file is input from outside. Rendering
keeps track of where each part of each message ended up, so that tokens can be counted by segment.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Never

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from eris.errors import InvalidError, ModelError
from proto.inference import Message, Part

TEMPLATE_SEGMENT: Final = "template"
"""The segment of what the template itself adds."""

CHATML: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""Used for a file that has no template, or one that can't be compiled."""

_ROLES: Final = frozenset({"system", "user", "assistant"})


@dataclass(frozen=True)
class Span:
    """A stretch of a rendered prompt."""

    segment: str
    text: str


class _GenerationBlocks(Extension):
    """Lets ``{% generation %}`` blocks, which mark training data, through."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 declares it so

    def parse(self, parser: Parser) -> list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    """A compiled chat template."""

    def __init__(
        self,
        source: str | None,
        *,
        beginning: str = "",
        end: str = "",
        today: datetime | None = None,
    ) -> None:
        """Compile the template.

        Args:
            source: Jinja text, or None to use ChatML.
            beginning: Text of the token that begins a prompt, if there is one.
            end: Text of the token that ends a message, if there is one.
            today: What templates that print a date see; the present day by default.
        """
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_GenerationBlocks, loopcontrols],
            autoescape=False,
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = self._today
        self._now = today
        self._tokens = {"bos_token": beginning, "eos_token": end}
        self.name = "gguf"
        try:
            if source is None:
                raise jinja2.TemplateSyntaxError("none", 1)
            self._template = environment.from_string(source)
            self.source = source
        except jinja2.TemplateError:
            self.name = "chatml"
            self.source = CHATML
            self._template = environment.from_string(CHATML)
        self._knows_system = self._accepts_system()

    def render(self, messages: Sequence[Message]) -> list[Span]:
        """Return the prompt that asks for the assistant's next message, in spans.

        Raises:
            InvalidError: There is no message, or a role is unknown.
            ModelError: The template refuses these messages.
        """
        if not messages:
            raise InvalidError("A prompt needs at least one message; there are none.")
        for message in messages:
            if message.role not in _ROLES:
                raise InvalidError(
                    f"The role {message.role!r} of a message is unknown.",
                    hint=f"Use one of {', '.join(sorted(_ROLES))}.",
                )
        if not self._knows_system:
            messages = _without_system(messages)
        contents = ["".join(part.text for part in message.parts) for message in messages]
        rendered = self._render([message.role for message in messages], contents)
        places = self._places(messages, contents, rendered)
        return _spans(messages, contents, places, rendered)

    def _render(self, roles: Sequence[str], contents: Sequence[str]) -> str:
        turns = [
            {"role": role, "content": content}
            for role, content in zip(roles, contents, strict=True)
        ]
        try:
            return self._template.render(messages=turns, add_generation_prompt=True, **self._tokens)
        except (jinja2.TemplateError, TypeError, ValueError, OverflowError) as error:
            raise ModelError(
                f"The model's chat template refuses {len(turns)} messages "
                f"({', '.join(roles)}): {error}.",
                hint="Some templates demand that user and assistant take turns.",
            ) from error

    def _today(self, form: str) -> str:
        return (self._now or datetime.now().astimezone()).strftime(form)

    def _accepts_system(self) -> bool:
        try:
            rendered = self._render(["system", "user"], ["\ue000", "\ue001"])
        except ModelError:
            return False
        return "\ue000" in rendered

    def _places(
        self, messages: Sequence[Message], contents: Sequence[str], rendered: str
    ) -> list[tuple[int, int]]:
        """Find where each content is in the rendered text, as (start, end) of each.

        The template is rendered again with placeholders that occur nowhere else; if putting the
        contents in their places gives the same text, the places are certain. Templates that
        look into a content fall through to a search in order.
        """
        roles = [message.role for message in messages]
        marks = [f"\ue000{index}\ue001" for index in range(len(contents))]
        if not any("\ue000" in content for content in contents):
            try:
                skeleton = self._render(roles, marks)
            except ModelError:
                skeleton = ""
            for candidate in (contents, [content.strip() for content in contents]):
                places = _fill(skeleton, marks, candidate, rendered)
                if places is not None:
                    return places
        return _search(contents, rendered)


def _fill(
    skeleton: str, marks: Sequence[str], contents: Sequence[str], rendered: str
) -> list[tuple[int, int]] | None:
    built, places, rest = "", [], skeleton
    for mark, content in zip(marks, contents, strict=True):
        markup, found, rest = rest.partition(mark)
        if not found:
            return None
        built += markup
        places.append((len(built), len(built) + len(content)))
        built += content
    return places if built + rest == rendered else None


def _search(contents: Sequence[str], rendered: str) -> list[tuple[int, int]]:
    places, cursor = [], 0
    for content in contents:
        for candidate in (content, content.strip()):
            start = rendered.find(candidate, cursor)
            if start >= 0:
                cursor = start + len(candidate)
                places.append((start, cursor))
                break
        else:
            places.append((cursor, cursor))
    return places


def _spans(
    messages: Sequence[Message],
    contents: Sequence[str],
    places: Sequence[tuple[int, int]],
    rendered: str,
) -> list[Span]:
    spans, cursor = [], 0
    for message, content, (start, end) in zip(messages, contents, places, strict=True):
        spans.append(Span(TEMPLATE_SEGMENT, rendered[cursor:start]))
        # What a trimming template took away at the front is missing from the first parts.
        skipped = content.find(rendered[start:end])
        offset = -skipped
        for part in message.parts:
            first, last = max(offset, 0), min(offset + len(part.text), end - start)
            spans.append(Span(part.segment, rendered[start + first : start + max(first, last)]))
            offset += len(part.text)
        cursor = end
    spans.append(Span(TEMPLATE_SEGMENT, rendered[cursor:]))
    return [span for span in spans if span.text]


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Put system messages in front of the next user message, for templates that know none."""
    merged: list[Message] = []
    waiting: tuple[Part, ...] = ()
    for message in messages:
        if message.role == "system":
            gap = Part(segment=TEMPLATE_SEGMENT, text="\n\n")
            waiting += (*message.parts, gap)
        elif message.role == "user" and waiting:
            merged.append(Message(role="user", parts=waiting + message.parts))
            waiting = ()
        else:
            merged.append(message)
    if waiting:
        merged.append(Message(role="user", parts=waiting[:-1]))
    return merged


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> Never:
    raise jinja2.TemplateError(message)
