"""Other machines: keys, who may connect with them, and the check at the door.

Between machines the bus speaks ``tcp://`` with CURVE: both sides prove that they have their key.
A key is allowed one role, such as ``console`` or ``discord``; no key may act as one of the
machine's own processes. Keys are made by `create_keys`, kept in files of mode 0600.
"""

import os
from pathlib import Path
from typing import Self

import msgspec
import zmq
import zmq.utils.z85
from zmq.auth.thread import ThreadAuthenticator

from eris.actor._pump import Curve
from eris.errors import ConfigurationError, InvalidError, NotFoundError
from eris.paths import Paths
from proto.rights import LOCAL_ROLES, RIGHTS

_DOMAIN = "eris"
_KEY_CHARACTERS = 40


class KeyPair(msgspec.Struct, frozen=True):
    """A CURVE key pair, each half 40 characters of Z85."""

    public: str
    secret: str


class RemotePeer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another machine that may connect."""

    key: str
    """Its public key."""
    role: str
    """The one role it may have here."""


def keys_folder(paths: Paths) -> Path:
    """Where a vault's keys and the list of peers are."""
    return paths.state / "keys"


def own_keys(paths: Paths) -> KeyPair:
    """Return the vault's key pair, made on first use."""
    return load_keys(keys_folder(paths) / "bus.json")


def load_keys(file: Path) -> KeyPair:
    """Return the key pair in a file, made on first use.

    Raises:
        ConfigurationError: The file is readable by others, or isn't a key pair.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        public, secret = zmq.curve_keypair()
        pair = KeyPair(public.decode(), secret.decode())
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(msgspec.json.encode(pair))
        return pair
    if file.stat().st_mode & 0o077:
        raise ConfigurationError(
            f"The key file {file} can be read by others.", hint=f"Run: chmod 600 {file}"
        )
    try:
        return msgspec.json.decode(file.read_bytes(), type=KeyPair)
    except msgspec.DecodeError as error:
        raise ConfigurationError(
            f"The key file {file} is damaged: {error}.", hint="Remove it to have new keys made."
        ) from error


def client_curve(server_public: str, keys: KeyPair) -> Curve:
    """Return what a connection to another machine's bus needs.

    Raises:
        InvalidError: The server's key isn't one.
    """
    _check_key(server_public)
    return Curve(server_public, keys.public, keys.secret)


def add_peer(paths: Paths, name: str, role: str, key: str) -> None:
    """Allow another machine to connect under a role.

    Raises:
        InvalidError: The role can't be given away, or the key isn't one.
    """
    if role in LOCAL_ROLES or role not in RIGHTS:
        allowed = ", ".join(sorted(set(RIGHTS) - LOCAL_ROLES))
        raise InvalidError(
            f"Another machine can't have the role {role!r}.", hint=f"Choose one of: {allowed}."
        )
    _check_key(key)
    _save_peers(paths, load_peers(paths) | {name: RemotePeer(key, role)})


def remove_peer(paths: Paths, name: str) -> None:
    """Shut another machine out again.

    Raises:
        NotFoundError: No machine of that name is on the list.
    """
    peers = load_peers(paths)
    if name not in peers:
        raise NotFoundError(
            f"There is no machine {name!r} on the list.", hint="See `eris peer list`."
        )
    del peers[name]
    _save_peers(paths, peers)


def load_peers(paths: Paths) -> dict[str, RemotePeer]:
    """Return the machines that may connect, by name.

    Raises:
        ConfigurationError: The file can't be read.
    """
    file = keys_folder(paths) / "peers.json"
    if not file.exists():
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, RemotePeer])
    except msgspec.DecodeError as error:
        raise ConfigurationError(
            f"The list of peers {file} can't be read: {error}.", hint="See docs/remote.md."
        ) from error


def _save_peers(paths: Paths, peers: dict[str, RemotePeer]) -> None:
    file = keys_folder(paths) / "peers.json"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = file.with_suffix(".tmp")
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(peers), indent=1))
    temporary.replace(file)


def _check_key(key: str) -> None:
    try:
        valid = len(key) == _KEY_CHARACTERS and bool(zmq.utils.z85.decode(key))
    except (ValueError, KeyError):
        valid = False
    if not valid:
        raise InvalidError(
            f"{key!r} is not a key.", hint="A public key has 40 characters; see `eris peer key`."
        )


class Gate:
    """Lets in the machines on the list, and says what each may call itself."""

    def __init__(
        self, authenticator: ThreadAuthenticator, keys: KeyPair, peers: dict[str, RemotePeer]
    ) -> None:
        self._authenticator = authenticator
        self._keys = keys
        self._roles = {peer.key: peer.role for peer in peers.values()}

    @classmethod
    def open(cls, context: "zmq.Context[zmq.Socket[bytes]]", paths: Paths) -> Self:
        """Start checking keys for the sockets of a context.

        Raises:
            ConfigurationError: No machine is allowed to connect.
        """
        peers = load_peers(paths)
        if not peers:
            raise ConfigurationError(
                "The bus is to listen on tcp, and no machine is allowed to connect.",
                hint="Allow one with `eris peer add`, or remove `tcp` from the section [bus].",
            )
        authenticator = ThreadAuthenticator(context)
        authenticator.start()
        gate = cls(authenticator, own_keys(paths), peers)
        authenticator.configure_curve_callback(domain=_DOMAIN, credentials_provider=gate)
        return gate

    def guard(self, socket: "zmq.Socket[bytes]") -> None:
        """Make a socket demand a key from everybody who connects. Call it before binding."""
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt_string(zmq.CURVE_PUBLICKEY, self._keys.public)
        socket.setsockopt_string(zmq.CURVE_SECRETKEY, self._keys.secret)
        socket.setsockopt_string(zmq.ZAP_DOMAIN, _DOMAIN)
        socket.setsockopt(zmq.HEARTBEAT_IVL, 2000)
        socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 6000)

    def callback(self, _domain: str, key: bytes) -> bool:
        """Called by pyzmq for each handshake: may the owner of this key connect at all?"""
        return key.decode(errors="replace") in self._roles

    def key_of(self, frame: zmq.Frame) -> str:
        """Return the key with which the connection of a received frame proved itself."""
        return str(frame.get("User-Id"))

    def role_of(self, key: str) -> str:
        """Return the role that a key may have; empty for none."""
        return self._roles.get(key, "")

    def close(self) -> None:
        """Stop checking keys."""
        self._authenticator.stop()
