"""From messages to the text that the model reads, and where each part of it ends up."""

import pytest

from actors.inference.template import CHATML, ChatTemplate, Span
from eris.errors import ErisError, InvalidError, ModelError
from proto.inference import Message, Part

TRIMMING = (
    "{% for message in messages %}[{{ message.role }}]{{ message.content | trim }}"
    "{% endfor %}[assistant]"
)
NO_SYSTEM = (
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ raise_exception('no system here') }}{% endif %}"
    "<{{ message.role }}>{{ message.content }}"
    "{% endfor %}<assistant>"
)
LOOKING_INTO_CONTENT = (
    "{% for message in messages %}[{{ message.role }}]"
    "{{ message.content.split('</think>')[-1] }}{% endfor %}[assistant]"
)


def message(role: str, *parts: tuple[str, str]) -> Message:
    return Message(role=role, parts=tuple(Part(segment=name, text=text) for name, text in parts))


def text_of(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


def segment(spans: list[Span], name: str) -> str:
    return "".join(span.text for span in spans if span.segment == name)


def test_without_a_template_the_prompt_is_chatml() -> None:
    template = ChatTemplate(None)
    spans = template.render(
        [message("system", ("identity", "Be kind.")), message("user", ("user", "Hi"))]
    )
    assert template.name == "chatml"
    assert text_of(spans) == (
        "<|im_start|>system\nBe kind.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("source", ["{% if %}", "{{ 'unclosed }}", "{% nonsense %}"])
def test_a_template_that_cannot_be_compiled_is_replaced(source: str) -> None:
    assert ChatTemplate(source).name == "chatml"


def test_parts_keep_their_segments() -> None:
    spans = ChatTemplate(CHATML).render(
        [message("user", ("tools", "read write "), ("memory", ""), ("user", "Hi"))]
    )
    assert segment(spans, "tools") == "read write "
    assert segment(spans, "user") == "Hi"
    assert segment(spans, "template") == ("<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n")


def test_text_that_looks_like_markup_is_not_mistaken_for_it() -> None:
    spans = ChatTemplate(CHATML).render([message("user", ("user", "user"))])
    assert [span.segment for span in spans] == ["template", "user", "template"]
    assert spans[0].text == "<|im_start|>user\n"


def test_a_template_that_trims_takes_from_the_outer_parts() -> None:
    spans = ChatTemplate(TRIMMING).render([message("user", ("a", "  \n one "), ("b", "two \n"))])
    assert text_of(spans) == "[user]one two[assistant]"
    assert segment(spans, "a") == "one "
    assert segment(spans, "b") == "two"


def test_a_template_that_looks_into_contents_still_gives_every_character_a_segment() -> None:
    spans = ChatTemplate(LOOKING_INTO_CONTENT).render(
        [message("assistant", ("history", "<think>x</think>yes")), message("user", ("user", "Hi"))]
    )
    assert text_of(spans) == "[assistant]yes[user]Hi[assistant]"
    assert segment(spans, "user") == "Hi"


def test_a_template_without_system_role_gets_it_in_the_first_user_message() -> None:
    spans = ChatTemplate(NO_SYSTEM).render(
        [message("system", ("identity", "Be kind.")), message("user", ("user", "Hi"))]
    )
    assert text_of(spans) == "<user>Be kind.\n\nHi<assistant>"
    assert segment(spans, "identity") == "Be kind."


@pytest.mark.parametrize(
    ("messages", "error", "words"),
    [
        ([], InvalidError, "at least one message"),
        ([message("tool", ("x", "y"))], InvalidError, "'tool'"),
    ],
)
def test_a_prompt_that_makes_no_sense_is_refused(
    messages: list[Message], error: type[ErisError], words: str
) -> None:
    with pytest.raises(error, match=words):
        ChatTemplate(CHATML).render(messages)


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('roles must alternate') }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{% for i in range(100000000) %}{% endfor %}",
    ],
)
def test_a_template_that_refuses_or_reaches_out_is_an_error_of_the_model(source: str) -> None:
    with pytest.raises(ModelError, match="chat template"):
        ChatTemplate(source).render([message("user", ("user", "Hi"))])
