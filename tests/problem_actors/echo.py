"""An actor that echoes, counts in a stream, and misbehaves on request; for tests and benchmarks."""

import os
import statistics
import sys
import time
from typing import Any, ClassVar

import msgspec

from eris.actor import Actor, Deferred, Request, run
from eris.errors import InvalidError
from proto.control import Done


class _Bench(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    pass


class Echo(_Bench, frozen=True, tag="bench.echo.1"):
    """Returned as it is, after doing what ``do`` says."""

    data: str = ""
    do: str = ""
    seconds: float = 0


class Count(_Bench, frozen=True, tag="bench.count.1"):
    """Opens a stream of numbers."""

    upto: int
    pause: float = 0


class Number(_Bench, frozen=True, tag="bench.number.1"):
    """One element of that stream."""

    number: int


class Repeat(_Bench, frozen=True, tag="bench.repeat.1"):
    """Has the actor ask another one, again and again, from its own mailbox."""

    dst: str
    data: str
    times: int


class Took(_Bench, frozen=True, tag="bench.took.1"):
    """How long each of those round trips took."""

    median_seconds: float


class Seen(_Bench, frozen=True, tag="bench.seen.1"):
    """Snapshot of the topic ``echoes``."""

    count: int


class EchoActor(Actor):
    """Answers `Echo` and `Count`; publishes every echo on the topic ``echoes``."""

    ACCEPTS: ClassVar[Any] = Echo | Count | Repeat

    def started(self) -> None:
        time.sleep(float(os.environ.get("ECHO_STARTS_IN", "0")))
        self.count = 0
        self.cancelled = 0
        self.topic = self.port.topic("echoes", snapshot=lambda: Seen(count=self.count))
        if os.environ.get("ECHO_FAILS"):
            raise RuntimeError("told to fail")

    def receive(self, request: Request) -> msgspec.Struct | Deferred:
        match request.body:
            case Repeat(dst=dst, data=data, times=times):
                return self._repeat(dst, data, times)
            case Count():
                self.port.submit(self._stream, request)
                return request.defer()
            case Echo(do="raise"):
                raise ZeroDivisionError
            case Echo(do="refuse", data=data):
                raise InvalidError(f"{data!r} is refused.", hint="Send something else.")
            case Echo(do="sleep", seconds=seconds):
                time.sleep(seconds)
            case Echo(do="busy", seconds=seconds):
                with self.port.busy("sleeping"):
                    time.sleep(seconds)
            case Echo(do="later"):
                self.port.submit(self._later, request)
                return request.defer()
            case Echo(do="ask", data=data):
                return self.port.ask(data, Echo(data=data), Echo, within=5)
        with self.topic.lock:
            self.count += 1
            self.topic.publish(Number(number=self.count))
        body: msgspec.Struct = request.body
        return body

    def _repeat(self, dst: str, data: str, times: int) -> Took:
        took = []
        body = Echo(data=data)
        for _ in range(times):
            start = time.perf_counter()
            self.port.ask(dst, body, Echo, within=5)
            took.append(time.perf_counter() - start)
        return Took(median_seconds=statistics.median(took))

    def _later(self, request: Request) -> None:
        if request.cancelled.wait(request.body.seconds):
            self.cancelled += 1
        request.reply(Echo(data="cancelled" if request.cancelled.is_set() else "done"))

    def _stream(self, request: Request) -> None:
        writer = request.stream()
        for number in range(request.body.upto):
            writer.put(Number(number=number))
            if request.body.pause and writer.cancelled.wait(request.body.pause):
                break
        writer.end(Done())


if __name__ == "__main__":
    run(EchoActor, sys.argv[1] if len(sys.argv) > 1 else os.environ["ERIS_ACTOR"])
