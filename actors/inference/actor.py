"""The inference actor: puts the engine on the bus.

The mailbox answers counts and descriptions at once; generations wait in a schedule for the one
thread that owns the engine. While the model loads, pings are answered as busy and requests wait.
"""

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import psutil

from actors.inference.delivery import Delivery
from actors.inference.engine import Engine
from actors.inference.generation import Generation
from actors.inference.prompt import Prompt
from actors.inference.sampling import Sampling
from actors.inference.schedule import LIMIT, Schedule
from eris.actor import Actor, Deferred, Request
from eris.errors import ConfigurationError, ErisError, InvalidError, ModelError, NotFoundError
from eris.models.catalogue import catalogue
from eris.models.store import ModelStore
from proto.errors import ErrorCode
from proto.inference import (
    CountTokens,
    DescribeModel,
    FinishReason,
    Generate,
    Generated,
    ModelDescription,
    Priority,
    TextCounts,
    TokenCounts,
    TokenizeText,
)

STATE_FOLDER: Final = "kv"
"""Folder of the saved KV states, in the vault's state folder."""

_IDLE_SECONDS: Final = 0.25
"""So long without work, and the KV state is written: not between the rounds of one turn."""

_HAND_OVER_SECONDS: Final = 2.0


@dataclass
class Job:
    """One generation on its way."""

    request: Request
    generation: Generation
    delivery: Delivery
    priority: Priority
    yielding: threading.Event = field(default_factory=threading.Event)
    queued_seconds: float = 0.0
    waiting_since: float = field(default_factory=time.monotonic)


class InferenceActor(Actor):
    """The model as a service."""

    ACCEPTS: ClassVar[Any] = DescribeModel | CountTokens | TokenizeText | Generate

    def started(self) -> None:
        """Load the model; whatever is wrong with it is a matter of configuration."""
        settings = self.port.settings.model
        try:
            path = ModelStore(self.port.paths.models).path(settings.chat)
            with self.port.busy("loading"):
                self._engine = Engine.load(
                    path,
                    threads=settings.threads or physical_cores(),
                    log=self.port.log,
                    context_length=settings.context_length,
                    batch=settings.batch,
                    state_folder=self.port.paths.state / STATE_FOLDER,
                    progress=lambda _done: not self.port.draining,
                )
        except (ModelError, NotFoundError) as error:
            raise ConfigurationError(
                error.message, hint=error.hint, details=error.details
            ) from error
        self.port.log.info("loaded", **msgspec.structs.asdict(self._description()))
        self._schedule: Schedule[Job] = Schedule()
        self._worker = threading.Thread(target=self._work, name="generate", daemon=True)
        self._worker.start()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Answer at once, but for a generation."""
        match request.body:
            case DescribeModel():
                return self._description()
            case CountTokens(messages=messages):
                return _counts(self._engine.count(messages))
            case TokenizeText() as body:
                return self._count_texts(body)
            case Generate() as body:
                return self._generate(request, body)
            case body:
                raise InvalidError(f"inference can't handle {type(body).__name__}.")

    def drain(self) -> None:
        """Let nobody wait for an answer that won't come, and save the KV state."""
        waiting = self._schedule.close()
        for job in waiting:
            job.delivery.end(_draining())
        self._worker.join()
        for job in waiting:
            job.delivery.join(_HAND_OVER_SECONDS)

    def _description(self) -> ModelDescription:
        info = self._engine.info
        return ModelDescription(
            name=_catalogue_name(self.port.settings.model.chat, info.path),
            path=str(info.path),
            context_length=info.context_length,
            trained_context_length=info.trained_context_length,
            vocabulary=info.vocabulary,
            parameters=info.parameters,
            size_bytes=info.size_bytes,
            threads=info.threads,
            load_seconds=info.load_seconds,
            template=info.template,
        )

    def _count_texts(self, body: TokenizeText) -> TextCounts:
        prompts, limit = self._engine.prompts, body.limit
        return TextCounts(
            counts=tuple(prompts.count(text) for text in body.texts),
            cuts=tuple(prompts.cut(text, limit) for text in body.texts) if limit > 0 else (),
        )

    def _generate(self, request: Request, body: Generate) -> Deferred:
        prompt = self._engine.count(body.messages)
        # Everything that can be refused is refused before the stream is opened.
        generation = self._engine.open(
            prompt,
            session=body.session,
            cancelled=request.cancelled,
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
        if self._schedule.full:
            raise ErisError(
                f"{LIMIT} generations are waiting for the model already.",
                hint="Try again in a moment.",
                code=ErrorCode.BUSY,
                retryable=True,
            )
        delivery = Delivery(request.stream(), _counts(prompt))
        if not self._schedule.put(Job(request, generation, delivery, body.priority)):
            delivery.end(_draining())
        return request.defer()

    def _work(self) -> None:
        """The worker: the only thread that touches the engine's cache."""
        while not self._schedule.closed:
            job = self._schedule.take(_IDLE_SECONDS)
            if job is None:
                self._save()
            else:
                self._advance(job)
        self._save()

    def _advance(self, job: Job) -> None:
        job.queued_seconds += time.monotonic() - job.waiting_since
        if job.request.remaining <= 0:
            job.delivery.end(_expired())
            return
        try:
            finish = job.generation.advance(job.delivery, job.yielding)
        except ErisError as error:
            job.delivery.end(error)
        except Exception as error:
            # A defect must not end the worker with everything that waits.
            self.port.log.exception("generation-failed", session=job.request.body.session)
            job.delivery.end(error)
        else:
            if job.generation.problem:
                self.port.log.warning("grammar-left", problem=job.generation.problem)
            if finish is not None:
                generated = _generated(job, finish)
                job.delivery.end(generated)
                self.port.log.info(
                    "generated",
                    session=job.request.body.session,
                    trace=job.request.trace,
                    **msgspec.structs.asdict(generated),
                )
            elif self._schedule.closed:
                job.delivery.end(_draining())
                job.delivery.join(_HAND_OVER_SECONDS)
            else:
                job.waiting_since = time.monotonic()
                self._schedule.put_back(job)

    def _save(self) -> None:
        try:
            self._engine.save_state()
        except ErisError as error:
            self.port.log.warning("kv-state-not-saved", error=error.message)


def physical_cores() -> int:
    """Return how many cores there are for this process, hyper-threads not counted."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, usable))


def _catalogue_name(chosen: str, path: Path) -> str:
    return chosen if any(entry.name == chosen for entry in catalogue()) else path.stem


def _counts(prompt: Prompt) -> TokenCounts:
    return TokenCounts(total=len(prompt.tokens), segments=prompt.segments)


def _draining() -> ErisError:
    return ErisError(
        "The model's process is shutting down.", code=ErrorCode.DRAINING, retryable=True
    )


def _expired() -> ErisError:
    return ErisError(
        "The time for this generation was used up before it was its turn.",
        hint="Try again when the model is less busy.",
        code=ErrorCode.EXPIRED,
        retryable=True,
    )


def _generated(job: Job, finish: FinishReason) -> Generated:
    statistics = job.generation.statistics
    return Generated(
        finish=finish,
        prompt_tokens=statistics.prompt_tokens,
        cached_tokens=statistics.cached_tokens,
        prefilled_tokens=statistics.prefilled_tokens,
        generated_tokens=statistics.generated_tokens,
        forced_tokens=statistics.forced_tokens,
        forward_passes=statistics.forward_passes,
        prefill_seconds=statistics.prefill_seconds,
        decode_seconds=statistics.decode_seconds,
        queued_seconds=job.queued_seconds,
        ended_early=job.generation.ended_early,
        thinking_tokens=statistics.thinking_tokens,
        drafted_tokens=statistics.drafted_tokens,
        accepted_tokens=statistics.accepted_tokens,
        constraint_seconds=statistics.constraint_seconds,
        call_odds=job.generation.call_odds,
    )
