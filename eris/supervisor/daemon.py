"""The supervisor's loop: one thread that waits for ends, answers, requests and time."""

import os
import random
import signal
import socket
import time
from collections import deque
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from types import FrameType

import msgspec
import zmq

from eris.errors import NotFoundError, UnavailableError
from eris.locks import HeldLock
from eris.logs import Logger
from eris.paths import Paths
from eris.supervisor import events
from eris.supervisor.child import UP, Child, State
from eris.supervisor.control import ControlSocket, Respond
from eris.supervisor.core import Core
from eris.supervisor.notify import notify
from eris.supervisor.peer import BUS, BusPeer
from eris.supervisor.process import resident_bytes
from eris.supervisor.requests import RestartRequests
from eris.supervisor.specification import Specification
from eris.supervisor.table import ProcessTable
from proto.control import Done, Ping, Pong
from proto.envelope import Head
from proto.supervisor import ActorStatus, Restart, Shutdown, Status, StatusReport

_QUICK_TICK_MS = 50
_TICK_MS = 250
_STARTING_PING_S = 0.1
_UNCONNECTED_PING_S = 5.0
"""A child the bus doesn't know yet is asked seldom: it's heard of when it connects."""

_SLOW_CHECKS_S = 2.0


def _version() -> str:
    try:
        return version("eris-agent")
    except PackageNotFoundError:
        return "(not installed)"


class Supervisor:
    """Carries out what the core decides, and tells it what happens."""

    def __init__(
        self,
        paths: Paths,
        lock: HeldLock,
        specification: Specification,
        environment: Mapping[str, str],
        logger: Logger,
    ) -> None:
        """Create the supervisor.

        Args:
            paths: Places of the vault.
            lock: The lock of the vault's supervisor.
            specification: What to start.
            environment: Environment of the children, before their own additions.
            logger: Where to log.
        """
        self._paths = paths
        self._lock = lock
        self._settings = specification.settings
        self._environment = environment
        self._log = logger
        self._core = Core(
            specification.children,
            random=random.random,
            missed_pings=specification.settings.missed_pings,
        )
        self._table = ProcessTable(paths, specification.children, environment, logger)
        self._pongs: dict[str, Pong] = {}
        self._last_ping: dict[str, float] = {}
        self._next_slow_check = 0.0
        self._requests = RestartRequests()
        self._started = time.monotonic()
        self._announced = False
        self._finished = False
        self._asked_to_stop = False
        self._wake_read, self._wake_write = socket.socketpair()

    def run(self) -> None:
        """Adopt and start the children and look after them until told to stop."""
        self._watch_signals()
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        incarnation = time.time_ns()
        self._control = ControlSocket(context, self._paths.supervisor_socket, incarnation)
        self._peer = BusPeer(context, self._paths.bus_socket, incarnation)
        for adopted in self._table.adopt_all():
            self._log.info("adopted", actor=adopted.name, pid=adopted.pid, note=adopted.note)
            self._feed(adopted)
        while not self._finished:
            self._turn()
        notify(self._environment, "STOPPING=1")
        self._peer.close()
        self._log.info("stopped")
        if not self._lock.intact():
            # Closing a socket removes its file, which may be another supervisor's by now.
            os._exit(0)
        self._control.close()
        context.term()
        self._table.clean()

    def _turn(self) -> None:
        """Do everything that is due, then wait for the next thing to happen."""
        now = time.monotonic()
        self._feed(events.Tick())
        self._ping(now)
        if now >= self._next_slow_check:
            self._next_slow_check = now + _SLOW_CHECKS_S
            self._check_slowly(now)
        if self._finished:
            return
        self._wait()
        self._control.receive(self._serve)
        for name, pong in self._peer.receive(self._serve):
            self._on_pong(name, pong)
        for ended in self._table.collect_ended():
            self._peer.forget(ended.name)
            self._pongs.pop(ended.name, None)
            self._feed(ended)
        if self._asked_to_stop and not self._core.stopping:
            self._feed(events.Shutdown())

    def _wait(self) -> None:
        poller = zmq.Poller()
        for waited_for in (self._control.socket, self._peer.socket, self._wake_read.fileno()):
            poller.register(waited_for, zmq.POLLIN)
        for process in self._table.processes.values():
            if process.descriptor >= 0:
                poller.register(process.descriptor, zmq.POLLIN)
        happened = dict(poller.poll(self._patience_ms()))
        if self._wake_read.fileno() in happened:
            self._wake_read.recv(4096)

    def _patience_ms(self) -> int:
        """How long nothing need happen before there is something to do."""
        settled = self._core.state() in {"ready", "degraded"}
        tick = _TICK_MS if settled else _QUICK_TICK_MS
        now = time.monotonic()
        deadline = self._core.next_deadline(now)
        return tick if deadline is None else min(tick, int((deadline - now) * 1000) + 1)

    def _feed(self, event: events.Event) -> None:
        """Give an event to the core and carry out what it wants, and what follows from that."""
        waiting = deque([event])
        while waiting:
            for action in self._core.handle(waiting.popleft(), time.monotonic()):
                outcome = self._carry_out(action)
                if outcome is not None:
                    waiting.append(outcome)
        if not self._announced and self._core.state() in {"ready", "degraded"}:
            self._announced = True
            self._log.info("up", state=self._core.state())
            notify(self._environment, "READY=1")

    def _carry_out(self, action: events.Action) -> events.Event | None:
        match action:
            case events.Spawn(name):
                child = self._core.children[name]
                self._last_ping[name] = time.monotonic()
                outcome = self._table.spawn(name, child.restarts + bool(child.lives))
                self._log.info("spawned", actor=name, pid=getattr(outcome, "pid", 0))
                return outcome
            case events.Adopt(name):
                return self._table.adopt_holder(name)
            case events.Terminate(name):
                self._table.terminate(name)
            case events.Kill(name):
                self._table.kill(name)
            case events.Answer(ticket, error):
                self._answer(ticket, error)
            case events.Report(name, event, words, serious):
                log = self._log.warning if serious else self._log.info
                log(event, actor=name, words=words)
            case events.Finished():
                self._finished = True
        return None

    def _ping(self, now: float) -> None:
        for name, child in self._core.children.items():
            if child.pid and now >= self._last_ping.get(name, 0.0) + self._ping_interval(child):
                self._last_ping[name] = now
                starting = child.state is State.STARTING
                # A ping that waits in the mailbox of a loading child tells when it's done.
                budget = child.specification.ready_s if starting else self._settings.ping_s
                if self._peer.ping(name, budget) and not starting:
                    self._feed(events.Missed(name))

    def _ping_interval(self, child: Child) -> float:
        if child.state is not State.STARTING:
            return self._settings.ping_s
        if child.name != BUS and child.name not in self._peer.connected:
            return _UNCONNECTED_PING_S
        # The longer it doesn't answer the fewer pings, so that its mailbox doesn't fill up.
        return max(_STARTING_PING_S, self._settings.ping_s * self._peer.unanswered(child.name))

    def _on_pong(self, name: str, pong: Pong) -> None:
        if name in self._core.children:
            self._pongs[name] = pong
            self._feed(events.Ponged(name, pong.state, pong.phase, pong.busy_ms / 1000))

    def _check_slowly(self, now: float) -> None:
        if not self._lock.intact() and not self._core.stopping:
            # Nobody can reach us any more, and the next supervisor won't find the children.
            self._log.error("runtime-directory-gone", path=str(self._paths.runtime))
            self._feed(events.Shutdown())
        self._table.limit_output()
        self._table.expel_strays(now)
        for name, child in self._core.children.items():
            if child.pid and child.specification.memory_max:
                self._feed(events.MemoryMeasured(name, resident_bytes(child.pid)))

    def _serve(
        self, head: Head, body: Status | Restart | Shutdown | Ping, respond: Respond
    ) -> None:
        match body:
            case Ping():
                respond(Pong(state="ready"))
            case Status():
                respond(self._report())
            case Shutdown():
                self._log.info("shutdown-requested", sender=head.src)
                respond(Done())
                self._feed(events.Shutdown())
            case Restart(name, idem):
                # A request is sent again, as it is, when the bus was restarted on its way.
                self._restart(name, idem or f"{head.src}/{head.id}", head.src, respond)

    def _restart(self, name: str, key: str, sender: str, respond: Respond) -> None:
        if name not in self._core.children:
            raise NotFoundError(
                f"There is no actor {name!r}.",
                hint=f"There are: {', '.join(self._core.children)}.",
            )
        if self._core.stopping:
            raise UnavailableError("Eris is shutting down.", hint="Start it again with: eris up")
        ticket = self._requests.add(key, respond, time.monotonic())
        if ticket is not None:
            self._log.info("restart-requested", actor=name, sender=sender)
            self._feed(events.Restart(name, ticket))

    def _answer(self, ticket: int, error: str) -> None:
        answer: msgspec.Struct = self._report()
        if error:
            answer = UnavailableError(error, hint="See `eris status` and `eris logs`.").body()
        self._requests.answer(ticket, answer)

    def _report(self) -> StatusReport:
        return StatusReport(
            version=_version(),
            vault=str(self._paths.vault),
            vault_id=self._paths.vault_id,
            pid=os.getpid(),
            uptime_seconds=time.monotonic() - self._started,
            state=self._core.state(),
            actors=tuple(self._status(child) for child in self._core.children.values()),
        )

    def _status(self, child: Child) -> ActorStatus:
        process = self._table.processes.get(child.name)
        pong = self._pongs.get(child.name, Pong(state=""))
        return ActorStatus(
            name=child.name,
            state=str(child.state),
            pid=process.pid if process is not None else 0,
            restarts=child.restarts,
            uptime_seconds=process.uptime() if process is not None else 0.0,
            rss_bytes=resident_bytes(process.pid) if process is not None else 0,
            adopted=child.adopted and process is not None,
            mailbox=pong.mailbox,
            streams=pong.streams,
            handled=pong.handled,
            failed=pong.failed,
            dropped=pong.dropped,
            detail="; ".join(
                part for part in (self._waits_for(child), child.note, pong.note) if part
            ),
        )

    def _waits_for(self, child: Child) -> str:
        if child.state is not State.WAITING or child.detail:
            return child.detail
        others = [
            name
            for name in child.specification.after
            if name in self._core.children
            and self._core.children[name].state not in UP | {State.STOPPED, State.FAILED}
        ]
        return f"waits for {', '.join(others)}" if others else ""

    def _watch_signals(self) -> None:
        for end in (self._wake_read, self._wake_write):
            end.settimeout(0)
        signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # `nohup` has a terminal's end ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._asked_to_stop = True
