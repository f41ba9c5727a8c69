"""The header that travels in front of every message body.

A message is two ZeroMQ frames, ``[head, body]``, both msgpack. The bus reads the head only.
"""

from enum import IntEnum

import msgspec

PROTOCOL_VERSION = 1
"""Version of the header and of the rules in this package. A receiver refuses any other."""

MAX_HEAD_BYTES = 1024
"""A head frame longer than this is refused without being decoded."""

MAX_BODY_BYTES = 16 * 1024 * 1024
"""A body frame longer than this is refused without being decoded."""

STREAM_WINDOW = 64
"""How many stream items a sender may be ahead of the receiver's last acknowledgement."""

DEFAULT_BUDGET_MS = 30_000
"""Time budget of a request that states none."""


class Kind(IntEnum):
    """What a message is for; decides who may send it and which part of a process handles it."""

    REQUEST = 1
    """Asks for one reply, or opens a stream."""
    REPLY = 2
    """The one answer to a request."""
    ITEM = 3
    """One element of a stream, numbered by ``Head.seq`` from 0."""
    END = 4
    """The last element of a stream; its body is the stream's result."""
    ERROR = 5
    """The answer to a request, or the end of a stream, that failed (body: `ErrorBody`)."""
    EVENT = 6
    """One element of a subscription: a stream whose first element is a snapshot."""
    CANCEL = 7
    """Asks the receiver to stop working on request ``Head.corr``; handled past the mailbox."""
    PING = 8
    """Asks whether the actor's thread answers (reply: `Pong`)."""
    CONTROL = 9
    """Between connections, never seen by behaviour: hello, peer news, credit, resume."""


class Head(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Header of a message. Encoded as an array; fields are only ever added at the end."""

    v: int
    """Protocol version, `PROTOCOL_VERSION`."""
    kind: int
    """A `Kind`."""
    type: str
    """Tag of the body, such as ``vault.read.1``; the receiver checks that the body agrees."""
    id: int
    """Message id, unique for its sender: a random 48-bit start, then counted up."""
    corr: int
    """Id of the request that this message belongs to; 0 for a request."""
    src: str
    """Sender's name. The bus refuses a message whose sender's connection has another name."""
    dst: str
    """Receiver's name."""
    incarnation: int
    """Sender's incarnation: nanoseconds since the epoch at its start; a later one is newer."""
    budget_ms: int = DEFAULT_BUDGET_MS
    """What is left of the time budget when it is sent, in milliseconds; never an absolute time."""
    trace: str = ""
    """Trace id that ties together everything done for one turn."""
    seq: int = 0
    """Number of a stream item or event, from 0 within its stream."""
