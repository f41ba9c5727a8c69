"""An `inference` without a model: answers what a script says, over the real bus.

The folder named by ``ERIS_SCRIPT`` holds ``script.json``, a list of answers that are given in
order, across restarts of this process. Each prompt it gets is appended to ``prompts.jsonl``.
A token is four characters here.
"""

import json
import os
import threading
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from eris.actor import Actor, Request, run
from eris.errors import CancelledWorkError, ContextFullError, ErisError
from proto.inference import (
    Chunk,
    CountTokens,
    DescribeModel,
    FinishReason,
    Generate,
    Generated,
    ModelDescription,
    Prefilled,
    Priority,
    TextCounts,
    TokenCounts,
    TokenizeText,
)

CHUNK = 4


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """One scripted answer."""

    text: str = ""
    pause: float = 0.0
    """Seconds between two chunks."""
    cut: bool = False
    """Say that the token limit was reached."""
    die_after: int = -1
    """Exit the process after so many chunks."""
    fail: str = ""
    """Refuse with this error code."""


class ScriptedInference(Actor):
    """Answers from the script; the last line is given again and again."""

    ACCEPTS: ClassVar[Any] = DescribeModel | CountTokens | TokenizeText | Generate

    def started(self):
        self.folder = Path(os.environ["ERIS_SCRIPT"])
        self.lock = threading.Lock()

    def receive(self, request: Request):
        match request.body:
            case DescribeModel():
                return ModelDescription(
                    name="scripted",
                    path="",
                    context_length=self.context_length,
                    trained_context_length=self.context_length,
                    vocabulary=1,
                    parameters=0,
                    size_bytes=0,
                    threads=1,
                    load_seconds=0,
                    template="none",
                )
            case CountTokens(messages=messages):
                return counts(messages)
            case TokenizeText(texts=texts, limit=limit):
                return TextCounts(
                    counts=tuple(len(text) // 4 for text in texts),
                    cuts=tuple(min(len(text), limit * 4) for text in texts),
                )
            case Generate() as body:
                self.port.submit(self.generate, request, body)
                return request.defer()
        raise AssertionError

    @property
    def context_length(self):
        return self.port.settings.model.context_length

    def generate(self, request, body):
        total = counts(body.messages)
        if total.total + body.min_answer_tokens > self.context_length:
            details = {"prompt_tokens": total.total, "context_length": self.context_length}
            request.fail(ContextFullError("too long", details=details))
            return
        line = Line() if body.priority is Priority.BACKGROUND else self.next_line(body)
        if line.fail:
            request.fail(ErisError("scripted failure", code=line.fail))
            return
        stream = request.stream()
        stream.put(Prefilled(counts=total, cached_tokens=0, prefilled_tokens=0, seconds=0))
        finish = FinishReason.LENGTH if line.cut else FinishReason.STOP
        chunks = [line.text[at : at + CHUNK] for at in range(0, len(line.text), CHUNK)]
        try:
            for number, chunk in enumerate(chunks):
                if number == line.die_after:
                    os._exit(9)
                if request.cancelled.wait(line.pause):
                    finish = FinishReason.CANCELLED
                    break
                stream.put(Chunk(text=chunk, tokens=number + 1))
        except CancelledWorkError:
            finish = FinishReason.CANCELLED
        with (self.folder / "finished.txt").open("a") as file:
            file.write(f"{finish}\n")
        stream.end(
            Generated(
                finish=finish,
                prompt_tokens=total.total,
                cached_tokens=0,
                prefilled_tokens=total.total,
                generated_tokens=len(chunks),
                forced_tokens=0,
                forward_passes=0,
                prefill_seconds=0,
                decode_seconds=0,
                queued_seconds=0,
            )
        )

    def next_line(self, body):
        """Take the next line; which one is next survives this process."""
        with self.lock:
            script = [Line(**one) for one in json.loads((self.folder / "script.json").read_text())]
            index = self.folder / "index"
            number = int(index.read_text()) if index.exists() else 0
            index.write_text(str(number + 1))
            with (self.folder / "prompts.jsonl").open("ab") as file:
                file.write(msgspec.json.encode(body) + b"\n")
            return script[min(number, len(script) - 1)]


def counts(messages):
    segments = {}
    for message in messages:
        for part in message.parts:
            segments[part.segment] = segments.get(part.segment, 0) + len(part.text)
    segments = {segment: size // 4 for segment, size in segments.items()}
    return TokenCounts(total=sum(segments.values()), segments=segments)


if __name__ == "__main__":
    run(ScriptedInference, "inference")
