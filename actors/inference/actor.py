"""The inference actor: puts the engine on the bus.

The mailbox answers counts and descriptions at once; generations wait in a schedule for the one
thread that owns the engine. While the model loads, pings are answered as busy and requests wait.
"""

import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import msgspec
import psutil

from actors.inference.choice import choose
from actors.inference.delivery import Delivery
from actors.inference.ports import Writing
from actors.inference.schedule import LIMIT, Schedule
from eris.actor import Actor, Deferred, Request
from eris.errors import ConfigurationError, ErisError, InvalidError, ModelError, NotFoundError
from proto.errors import ErrorCode
from proto.inference import (
    CountTokens,
    DescribeModel,
    FinishReason,
    Generate,
    Generated,
    Priority,
    TokenizeText,
)

_IDLE_SECONDS: Final = 0.25
"""So long without work, and the KV state is written: not between the rounds of one turn."""

_HAND_OVER_SECONDS: Final = 2.0


@dataclass
class Job:
    """One generation on its way."""

    request: Request
    generation: Writing
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
        try:
            with self.port.busy("loading"):
                self._engine = choose(self.port, physical_cores())
        except (ModelError, NotFoundError) as error:
            raise ConfigurationError(
                error.message, hint=error.hint, details=error.details
            ) from error
        self._schedule: Schedule[Job] = Schedule()
        self._worker = threading.Thread(target=self._work, name="generate", daemon=True)
        self._worker.start()

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        """Answer at once, but for a generation, and for what a server has to be asked."""
        if self._engine.distant:
            self.port.submit(self._answer_later, request)
            return request.defer()
        return self._answer(request)

    def _answer_later(self, request: Request) -> None:
        try:
            answer = self._answer(request)
        except ErisError as error:
            request.fail(error)
        except Exception as error:
            self.port.log.exception("request-failed", type=request.head.type)
            request.fail(error)
        else:
            if not isinstance(answer, Deferred):
                request.reply(answer)

    def _answer(self, request: Request) -> msgspec.Struct | Deferred:
        match request.body:
            case DescribeModel():
                return self._engine.describe()
            case CountTokens(messages=messages):
                return self._engine.count(messages)
            case TokenizeText() as body:
                return self._engine.count_texts(body)
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
        if self._engine.distant:
            self._engine.close()

    def _generate(self, request: Request, body: Generate) -> Deferred:
        # Everything that can be refused is refused before the stream is opened.
        opened = self._engine.open(body, request.cancelled)
        if self._schedule.full:
            raise ErisError(
                f"{LIMIT} generations are waiting for the model already.",
                hint="Try again in a moment.",
                code=ErrorCode.BUSY,
                retryable=True,
            )
        delivery = Delivery(request.stream(), opened.counts)
        if not self._schedule.put(Job(request, opened.writing, delivery, body.priority)):
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
