"""Two machines: the bus on tcp with CURVE keys, tried on loopback."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from eris.actor import Connection, Port
from eris.config import Settings
from eris.errors import InvalidError, RemoteError
from eris.remote import add_peer, client_curve, load_keys, own_keys
from proto.control import Done, Subscribe
from proto.errors import ErrorCode
from proto.orchestrator import SubmitTurn
from proto.supervisor import Shutdown
from tests.support import Processes, processes, wait_until

pytestmark = pytest.mark.process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[Processes, str]]:
    """A bus that listens on tcp too and knows one other machine, allowed to be a discord."""
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with processes(tmp_path, {"ERIS_BUS_TCP": endpoint}) as group:
        keys = load_keys(tmp_path / "laptop.json")
        add_peer(group.paths, "laptop", "discord", keys.public)
        group.start("bus")
        yield group, endpoint


def attach(group: Processes, endpoint: str, name: str, key_file: Path) -> Connection:
    keys = load_keys(key_file)
    server = own_keys(group.paths).public
    return Connection(name, endpoint, curve=client_curve(server, keys))


def ask(group: Processes, connection: Connection, body: Subscribe | SubmitTurn | Shutdown) -> None:
    receiver = "erisd" if isinstance(body, Shutdown) else "orchestrator"
    Port(connection, group.paths, Settings()).ask(receiver, body, Done, within=5)


def test_a_known_key_may_do_what_its_role_may(
    remote: tuple[Processes, str], tmp_path: Path
) -> None:
    group, endpoint = remote
    with attach(group, endpoint, "discord.1", tmp_path / "laptop.json") as connection:
        assert connection.welcomed.wait(10)
        # It may talk to the orchestrator, which isn't running here.
        with pytest.raises(RemoteError) as caught:
            ask(group, connection, SubmitTurn(session="main", text="hello", idem="1"))
        assert caught.value.code == ErrorCode.UNREACHABLE
        with pytest.raises(RemoteError) as caught:
            ask(group, connection, Shutdown())
        assert caught.value.code == ErrorCode.FORBIDDEN


@pytest.mark.parametrize("name", ["console.1", "orchestrator", "erisd"])
def test_a_known_key_may_not_take_another_role(
    remote: tuple[Processes, str], tmp_path: Path, name: str
) -> None:
    group, endpoint = remote
    local = group.connect("erisd")
    assert local.welcomed.wait(10)
    with attach(group, endpoint, name, tmp_path / "laptop.json") as connection:
        wait_until(lambda: refused(group), what="the bus refuses the connection's hello")
        assert not connection.welcomed.is_set()


def refused(group: Processes) -> bool:
    log = group.paths.logs / "bus.log"
    return log.exists() and "may not connect as" in log.read_text("utf-8")


def test_a_wrong_key_gets_no_connection(remote: tuple[Processes, str], tmp_path: Path) -> None:
    group, endpoint = remote
    stranger = attach(group, endpoint, "discord.2", tmp_path / "stranger.json")
    with stranger, attach(group, endpoint, "discord.1", tmp_path / "laptop.json") as known:
        assert known.welcomed.wait(10)
        assert not stranger.welcomed.wait(1)


def test_a_client_with_the_wrong_server_key_gets_no_connection(
    remote: tuple[Processes, str], tmp_path: Path
) -> None:
    _, endpoint = remote
    keys = load_keys(tmp_path / "laptop.json")
    curve = client_curve(load_keys(tmp_path / "other-server.json").public, keys)
    with Connection("discord.1", endpoint, curve=curve) as connection:
        assert not connection.welcomed.wait(1)


def test_without_any_key_the_bus_refuses_to_listen(tmp_path: Path) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    with processes(tmp_path, {"ERIS_BUS_TCP": endpoint}) as group:
        assert group.start("bus").wait(20) == 78
        assert "eris peer add" in (group.paths.runtime / "exit-bus.json").read_text()


def test_a_taken_port_is_a_configuration_fault(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        endpoint = f"tcp://127.0.0.1:{holder.getsockname()[1]}"
        with processes(tmp_path, {"ERIS_BUS_TCP": endpoint}) as group:
            add_peer(group.paths, "laptop", "discord", load_keys(tmp_path / "k.json").public)
            assert group.start("bus").wait(20) == 78
            assert endpoint in (group.paths.runtime / "exit-bus.json").read_text()


@pytest.mark.parametrize(
    ("role", "key"), [("orchestrator", "x" * 40), ("nobody", "x" * 40), ("discord", "short")]
)
def test_a_bad_peer_is_refused(tmp_path: Path, role: str, key: str) -> None:
    with processes(tmp_path) as group, pytest.raises(InvalidError, match=r"role|key"):
        add_peer(group.paths, "laptop", role, key)


def test_key_files_are_private(tmp_path: Path) -> None:
    with processes(tmp_path) as group:
        own_keys(group.paths)
        file = group.paths.state / "keys" / "bus.json"
        assert file.stat().st_mode & 0o077 == 0
