"""Measures, once for each model file, which form of JSON the model finds most likely.

One answer is scored in every form, behind the same question and without an example, so that the
form is the model's own habit. What counts is the text that the model chooses itself (words, paths,
names); what the grammar forces costs it nothing, but a form that it finds unlikely makes the words
in it unlikely too. Scores are per character, for forms have different numbers of tokens. The
examples of a prompt are always in the form that is then forced.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from eris.envelope import Envelope, ToolCall, render_envelope
from eris.errors import ErisError
from eris.grammar import FORMS, Form
from eris.logs import Logger
from proto.inference import Message, Part

FILE: Final = "forms.json"
"""In the folder of the models, which all vaults share: what was measured, by model file."""

MOST_KEPT: Final = 16
"""Model files that are remembered."""

VERSION: Final = 1
"""Of the measurement: another one measures anew."""

PREFERRED: Final = "spaced"
"""Taken unless another form is better by more than `MARGIN`, and where nothing is measured."""

MARGIN: Final = 0.05
"""Nats for each character of free text."""

# Short, for the model reads the answer once for each form while somebody waits for it.
_SYSTEM = "Answer with one JSON object: thought, status, message_to_user, tool_calls."
_ASKED = 'Add "Pack a warm coat." to plans/trip.md with vault:write (path, content).'
_ANSWER = Envelope(
    thought="The user wants a text in a note.",
    tool_calls=(
        ToolCall("vault:write", {"path": "plans/trip.md", "content": "Pack a warm coat."}),
    ),
)

Likelihood = Callable[[Sequence[Message], str], Sequence[tuple[bytes, float]]]
"""Gives the tokens of an answer to messages, each with its log-probability."""


class Scores(msgspec.Struct, frozen=True):
    """Mean log-probabilities per character of the answer in one form, in nats."""

    free: float
    """Of the text that the model chooses."""
    whole: float
    """Of everything."""


class Measured(msgspec.Struct, frozen=True):
    """What is remembered of a model file."""

    form: str
    """Name of the form to use."""
    scores: dict[str, Scores]
    version: int = VERSION


def measure(likelihood: Likelihood) -> dict[str, Scores]:
    """Score every form."""
    return {name: _scored(likelihood, form) for name, form in FORMS.items()}


def _scored(likelihood: Likelihood, form: Form) -> Scores:
    answer = render_envelope(_ANSWER, form)
    asked = [_message("system", _SYSTEM), _message("user", _ASKED)]
    every = _by_character(answer, likelihood(asked, answer))
    return Scores(_mean([every[at] for at in _free(answer, _ANSWER)]), _mean(every))


def _message(role: str, text: str) -> Message:
    return Message(role=role, parts=(Part(segment="identity", text=text),))


def _by_character(text: str, tokens: Sequence[tuple[bytes, float]]) -> list[float]:
    """Spread each token's log-probability over its characters (the texts are ASCII)."""
    spread = [value / len(piece) for piece, value in tokens for _ in piece]
    if len(spread) != len(text):
        raise ValueError(f"tokens of {len(spread)} characters for a text of {len(text)}")
    return spread


def _free(text: str, envelope: Envelope) -> list[int]:
    """Return the positions of what the model chooses: the contents of strings."""
    found: list[int] = []
    position = 0
    for chosen in _chosen(envelope):
        position = text.index(chosen, position)
        found += range(position, position + len(chosen))
        position += len(chosen)
    return found


def _chosen(envelope: Envelope) -> list[str]:
    texts = [envelope.thought, envelope.message_to_user or ""]
    for call in envelope.tool_calls:
        texts += [call.name, *map(str, call.args.values())]
    return [text for text in texts if text]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def best(scores: Mapping[str, Scores]) -> str:
    """Return the form with the likeliest free text; `PREFERRED` where it's nearly as likely."""
    winner = max(scores, key=lambda name: scores[name].free)
    ahead = scores[winner].free - scores[PREFERRED].free
    return winner if ahead > MARGIN else PREFERRED


def identity_of(path: Path) -> str:
    """Return what tells a model file from every other, without reading it.

    Raises:
        OSError: It isn't there.
    """
    status = path.stat()
    return f"{path.resolve()} {status.st_size} {status.st_mtime_ns}"


def form_of(identity: str, likelihood: Likelihood, folder: Path, log: Logger) -> str:
    """Return the form for a model file: the remembered one, or measured now and remembered.

    A measurement that fails costs nothing but the usual form.

    Args:
        identity: From `identity_of`.
        likelihood: Asks the model.
        folder: Where it's remembered.
        log: Says what was measured.
    """
    remembered = recall(folder)
    known = remembered.get(identity)
    if known is not None and known.form in FORMS:
        return known.form
    began = time.perf_counter()
    try:
        scores = measure(likelihood)
    except (ErisError, ValueError) as error:
        log.warning("form-not-measured", error=str(error))
        return PREFERRED
    found = Measured(best(scores), scores)
    log.info("form-measured", seconds=time.perf_counter() - began, **msgspec.to_builtins(found))
    others = [pair for pair in remembered.items() if pair[0] != identity]
    kept = dict([*others[1 - MOST_KEPT :], (identity, found)])
    try:
        remember(folder, kept)
    except OSError as error:
        log.warning("form-not-remembered", error=str(error))
    return found.form


def recall(folder: Path) -> dict[str, Measured]:
    """Return what is remembered by this version; nothing if it can't be read."""
    try:
        content = (folder / FILE).read_bytes()
        found = msgspec.json.decode(content, type=dict[str, Measured])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return {model: one for model, one in found.items() if one.version == VERSION}


def remember(folder: Path, measured: Mapping[str, Measured]) -> None:
    """Write all of it, or nothing.

    Raises:
        OSError: It can't be written.
    """
    temporary = folder / f"{FILE}.tmp"
    temporary.write_bytes(msgspec.json.encode(measured))
    temporary.replace(folder / FILE)
