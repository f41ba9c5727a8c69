"""Heads and bodies to bytes and back: the only module that calls msgspec's msgpack codec.

On the wire unknown body fields are tolerated, so that a newer peer can add some. Everything else
that doesn't fit is a `ProtocolError` that says what was wrong; nothing is ever unpickled.
"""

import hashlib
from functools import cache
from typing import Any, TypeVar

import msgspec

from eris.errors import ProtocolError
from proto.agenda import Agenda
from proto.control import Control
from proto.envelope import MAX_BODY_BYTES, MAX_HEAD_BYTES, PROTOCOL_VERSION, Head
from proto.errors import ErrorBody, ErrorCode
from proto.gatekeeper import Gatekeeper
from proto.inference import Inference
from proto.memory import Memory
from proto.orchestrator import Orchestrator
from proto.router import Router
from proto.supervisor import Supervisor
from proto.tools import Tools
from proto.vault import Vault

T = TypeVar("T")

ALL_MESSAGES = (
    Agenda
    | Control
    | Gatekeeper
    | Inference
    | Memory
    | Orchestrator
    | Router
    | Supervisor
    | Tools
    | Vault
    | ErrorBody
)
"""Every body there is."""

_encoder = msgspec.msgpack.Encoder()
_head_decoder = msgspec.msgpack.Decoder(Head)


def tag_of(body: msgspec.Struct | type[msgspec.Struct]) -> str:
    """Return the tag that names a body's type on the wire."""
    tag = body.__struct_config__.tag
    if not isinstance(tag, str):
        raise TypeError(f"{body!r} is not a message: it has no tag")
    return tag


def encode(body: msgspec.Struct) -> bytes:
    """Encode a head or a body.

    Raises:
        ProtocolError: The result is over the limit of a body.
    """
    data = _encoder.encode(body)
    if len(data) > MAX_BODY_BYTES:
        raise ProtocolError(
            f"A {tag_of(body)} message of {len(data)} bytes is over the limit of {MAX_BODY_BYTES}.",
            hint="Send less at once.",
            code=ErrorCode.TOO_LARGE,
        )
    return data


def decode_head(frame: bytes | memoryview) -> Head:
    """Decode a head frame.

    Raises:
        ProtocolError: It's too long, isn't a head, or has another protocol version.
    """
    if len(frame) > MAX_HEAD_BYTES:
        raise ProtocolError(
            f"A head of {len(frame)} bytes is over the limit of {MAX_HEAD_BYTES}.",
            code=ErrorCode.TOO_LARGE,
        )
    try:
        head = _head_decoder.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(f"A message head can't be decoded: {error}.") from error
    if head.v != PROTOCOL_VERSION:
        raise ProtocolError(
            f"{head.src} speaks protocol version {head.v}, this is version {PROTOCOL_VERSION}.",
            hint="Install the same version of Eris everywhere, then restart it.",
            code=ErrorCode.BAD_VERSION,
        )
    return head


@cache
def decoder_for(union: Any) -> msgspec.msgpack.Decoder[Any]:
    """Return the decoder for a union of bodies, made once."""
    return msgspec.msgpack.Decoder(union)


def decode_body(frame: bytes | memoryview, union: Any, expected_tag: str = "") -> Any:
    """Decode a body frame as one of the types of ``union``.

    Args:
        frame: The bytes.
        union: A message type or a union of them.
        expected_tag: The type that the head announced; the body must agree.

    Raises:
        ProtocolError: It's too long, none of these types, or not what the head announced.
    """
    if len(frame) > MAX_BODY_BYTES:
        raise ProtocolError(
            f"A body of {len(frame)} bytes is over the limit of {MAX_BODY_BYTES}.",
            code=ErrorCode.TOO_LARGE,
        )
    try:
        body = decoder_for(union).decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(
            f"A {expected_tag or 'message'} body can't be decoded: {error}."
        ) from error
    if expected_tag and tag_of(body) != expected_tag:
        raise ProtocolError(f"The head announced {expected_tag}, the body is {tag_of(body)}.")
    return body


@cache
def schema_digest() -> str:
    """Digest of every message's schema; equal digests mean that two builds speak alike."""
    schema = msgspec.json.schema(ALL_MESSAGES)
    text = msgspec.json.encode(schema, order="sorted")
    return hashlib.sha256(text).hexdigest()[:16]
