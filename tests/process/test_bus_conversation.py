"""Requests, streams and events between real processes, through the real bus."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eris.actor import Connection, Port
from eris.config import Settings
from eris.errors import CancelledWorkError, RemoteError
from proto.control import Done, Ping, Pong
from proto.envelope import STREAM_WINDOW
from proto.errors import ErrorCode
from tests.problem_actors.echo import Count, Echo, Number, Seen
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process
ECHO = "tests.problem_actors.echo"
SERVER = "bench.server"


@contextlib.contextmanager
def echo_system(folder: Path) -> Iterator[tuple[Processes, Port]]:
    with processes(folder) as group:
        group.start("bus")
        group.start(SERVER, ECHO, ready=False)
        port = group.connect("bench")
        port.ask(SERVER, Ping(), Pong, within=20, retry=True)
        yield group, port


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, Port]]:
    with echo_system(tmp_path_factory.mktemp("echo")) as both:
        yield both


def test_a_request_is_answered(system: tuple[Processes, Port]) -> None:
    assert system[1].ask(SERVER, Echo(data="hé"), Echo, within=5) == Echo(data="hé")


@pytest.mark.parametrize(
    ("dst", "body", "code", "words"),
    [
        ("bench.nobody", Echo(), ErrorCode.UNREACHABLE, "bench.nobody"),
        ("vault", Echo(), ErrorCode.FORBIDDEN, "vault"),
        (SERVER, Echo(do="raise"), ErrorCode.INTERNAL, "ZeroDivisionError"),
        (SERVER, Echo(do="refuse", data="x"), ErrorCode.INVALID, "'x' is refused"),
        (SERVER, Echo(data="y" * (17 * 1024 * 1024)), ErrorCode.TOO_LARGE, "17825"),
    ],
)
def test_a_request_that_cannot_be_carried_out_says_why(
    system: tuple[Processes, Port], dst: str, body: Echo, code: str, words: str
) -> None:
    with pytest.raises(Exception, match=words) as caught:
        system[1].ask(dst, body, Echo, within=5)
    assert caught.value.code == code


def test_the_actor_lives_on_after_a_defect(system: tuple[Processes, Port]) -> None:
    port = system[1]
    with pytest.raises(RemoteError):
        port.ask(SERVER, Echo(do="raise"), Echo, within=5)
    pong = port.ask(SERVER, Ping(), Pong, within=5)
    assert pong.state == "ready"
    assert pong.failed >= 1


def test_a_request_whose_time_is_up_is_given_up_by_both_sides(
    system: tuple[Processes, Port],
) -> None:
    port = system[1]
    with pytest.raises(RemoteError) as caught:
        port.ask(SERVER, Echo(do="later", seconds=60), Echo, within=0.2)
    assert caught.value.code == ErrorCode.EXPIRED
    wait_until(lambda: port.ask(SERVER, Ping(), Pong, within=5).mailbox == 0)


def test_a_waiting_request_can_be_cancelled(system: tuple[Processes, Port]) -> None:
    cancelled = threading.Event()
    threading.Timer(0.1, cancelled.set).start()
    with pytest.raises(CancelledWorkError):
        system[1].ask(SERVER, Echo(do="later", seconds=60), Echo, within=30, cancelled=cancelled)


def test_a_busy_behaviour_is_answered_for(system: tuple[Processes, Port]) -> None:
    port = system[1]
    busy = threading.Thread(
        target=port.ask, args=(SERVER, Echo(do="busy", seconds=1.0), Echo), kwargs={"within": 5}
    )
    busy.start()
    wait_until(lambda: port.ask(SERVER, Ping(), Pong, within=5).phase == "sleeping")
    busy.join()
    assert port.ask(SERVER, Ping(), Pong, within=5).state == "ready"


@pytest.mark.parametrize("count", [0, 1, 64, 1000])
def test_a_stream_arrives_whole_and_in_order(system: tuple[Processes, Port], count: int) -> None:
    reader = system[1].open(SERVER, Count(upto=count), item=Number, result=Done)
    assert [item.number for item in reader] == list(range(count))
    assert reader.result == Done()


def test_a_slow_reader_holds_the_writer_back(system: tuple[Processes, Port]) -> None:
    port = system[1]
    reader = port.open(SERVER, Count(upto=100_000), item=Number, result=Done)
    assert reader.next(5) == Number(number=0)
    # The writer is now at most a window ahead: nothing more arrives until something is taken.
    wait_until(lambda: reader._arrived.qsize() >= 60)
    port.ask(SERVER, Echo(), Echo, within=5)
    assert reader._arrived.qsize() <= STREAM_WINDOW
    reader.close()


def test_a_cancelled_stream_ends(system: tuple[Processes, Port]) -> None:
    reader = system[1].open(SERVER, Count(upto=10_000, pause=0.01), item=Number, result=Done)
    assert reader.next(5) is not None
    reader.cancel()
    rest = list(reader)
    assert len(rest) < 100
    assert reader.result == Done()


def test_a_subscriber_gets_a_snapshot_and_then_every_change(
    system: tuple[Processes, Port],
) -> None:
    port = system[1]
    subscription = port.subscribe(SERVER, "echoes", item=Seen | Number)
    snapshot = subscription.next(5)
    assert isinstance(snapshot, Seen)
    for _ in range(100):
        port.ask(SERVER, Echo(), Echo, within=5)
    numbers = [subscription.next(5).number for _ in range(100)]
    assert numbers == list(range(snapshot.count + 1, snapshot.count + 101))
    subscription.close()


def test_an_unknown_topic_is_refused(system: tuple[Processes, Port]) -> None:
    subscription = system[1].subscribe(SERVER, "nothing", item=Seen)
    with pytest.raises(RemoteError, match="no topic 'nothing'"):
        subscription.next(5)


def test_a_restarted_peer_fails_what_waits_for_it_at_once(tmp_path: Path) -> None:
    with echo_system(tmp_path) as (group, port):
        outcome: list[Exception] = []

        def ask() -> None:
            try:
                port.ask(SERVER, Echo(do="later", seconds=60), Echo, within=60)
            except RemoteError as error:
                outcome.append(error)

        waiting = threading.Thread(target=ask)
        waiting.start()
        subscription = port.subscribe(SERVER, "echoes", item=Seen | Number)
        assert isinstance(subscription.next(5), Seen)
        wait_until(lambda: port.ask(SERVER, Ping(), Pong, within=5).mailbox == 1)
        group.kill(SERVER)
        group.start(SERVER, ECHO, ready=False)
        item = subscription.next(20)
        assert isinstance(item, Seen)
        subscription.close()
        waiting.join(10)
        assert [error.code for error in outcome] == [ErrorCode.PEER_RESTARTED]


def test_a_peer_that_died_before_our_hello_fails_what_waits_for_it_too(tmp_path: Path) -> None:
    may_say_hello = threading.Event()

    def failure(port: Port, within: float, do: str = "") -> str:
        with pytest.raises(RemoteError) as caught:
            port.ask(SERVER, Echo(do=do, seconds=60), Echo, within=within)
        return caught.value.code

    class Late(Connection):
        def connected(self) -> None:
            may_say_hello.wait(60)
            super().connected()

    with echo_system(tmp_path) as (group, port):
        late = Late("bench.late", group.paths.bus_socket)
        with late, ThreadPoolExecutor(1) as thread:
            wait_until(lambda: late._pump._socket is not None)
            outcome = thread.submit(failure, Port(late, group.paths, Settings()), 60, "later")
            wait_until(lambda: port.ask(SERVER, Ping(), Pong, within=5).mailbox == 1)
            group.kill(SERVER)
            wait_until(lambda: failure(port, within=0.5) == ErrorCode.UNREACHABLE)
            may_say_hello.set()
            assert late.welcomed.wait(10)
            group.start(SERVER, ECHO, ready=False)
            assert outcome.result(20) == ErrorCode.PEER_RESTARTED


@pytest.mark.parametrize("pause", [0.0, 0.002])
def test_the_death_of_the_bus_loses_nothing(tmp_path: Path, pause: float) -> None:
    with echo_system(tmp_path) as (group, port):
        reader = port.open(SERVER, Count(upto=3000, pause=pause), item=Number, result=Done)
        numbers = []
        answer: list[Echo] = []
        asking = threading.Thread(
            target=lambda: answer.append(
                port.ask(SERVER, Echo(do="later", seconds=1.0), Echo, within=30)
            )
        )
        asking.start()
        for item in reader:
            numbers.append(item.number)
            if len(numbers) in {100, 700}:
                group.kill("bus")
                group.start("bus")
        asking.join(30)
        assert numbers == list(range(3000))
        assert answer == [Echo(data="done")]


def test_a_second_process_of_the_same_name_refuses_to_start(
    system: tuple[Processes, Port],
) -> None:
    group, _ = system
    first = group.children[SERVER]
    second = group.start(SERVER, ECHO, ready=False)
    group.children[SERVER] = first
    assert second.wait(20) == 75


def test_a_behaviour_that_cannot_start_ends_its_process(tmp_path: Path) -> None:
    with processes(tmp_path, {"ECHO_FAILS": "1"}) as group:
        group.start("bus")
        child = group.start(SERVER, ECHO, ready=False)
        assert child.wait(20) == 70
        assert "told to fail" in (group.paths.runtime / f"exit-{SERVER}.json").read_text()


def test_a_subscriber_waits_for_a_behaviour_that_is_still_starting(tmp_path: Path) -> None:
    with processes(tmp_path, {"ECHO_STARTS_IN": "1.0"}) as group:
        group.start("bus")
        group.start(SERVER, ECHO, ready=False)
        subscription = group.connect("bench").subscribe(SERVER, "echoes", item=Seen)
        assert subscription.next(20) == Seen(count=0)
        subscription.close()
