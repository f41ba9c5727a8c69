"""The body of every error message, and the codes it can carry."""

from enum import StrEnum

import msgspec


class ErrorCode(StrEnum):
    """Stable codes. A surface may translate them; a program may match on them."""

    # Transport.
    BAD_MESSAGE = "bad-message"
    """Bytes that can't be decoded, an unknown type, or a body that doesn't fit its head."""
    BAD_VERSION = "bad-version"
    """The sender speaks another protocol version."""
    TOO_LARGE = "too-large"
    """A frame over the limits of `proto.envelope`."""
    FORBIDDEN = "forbidden"
    """The sender's role may not send this type to this receiver."""
    UNREACHABLE = "unreachable"
    """Nobody of that name is connected."""
    OVERRUN = "overrun"
    """The receiver's queue is full; the message was dropped and counted."""
    PEER_RESTARTED = "peer-restarted"
    """The receiver was restarted while it worked on the request."""
    EXPIRED = "expired"
    """The time budget was used up."""
    BUSY = "busy"
    """The receiver has too much waiting already."""
    DRAINING = "draining"
    """The receiver is shutting down and takes nothing new."""
    LOADING = "loading"
    """The receiver is still starting."""
    CANCELLED = "cancelled"
    """Stopped because somebody asked for it."""
    STREAM_UNKNOWN = "stream-unknown"
    """The stream to resume isn't known (any more)."""
    INTERNAL = "internal"
    """A defect of Eris; the receiver's log has the details."""

    # Work.
    INVALID = "invalid"
    """Well-formed input that makes no sense; the message names it."""
    NOT_FOUND = "not-found"
    """What was asked for isn't there."""
    CONFLICT = "conflict"
    """Something else has it, or has changed it."""
    DENIED = "denied"
    """Not permitted to whoever started the turn."""
    CONFIGURATION = "configuration"
    """A setting is wrong; retrying can't help until it's changed."""
    CONTEXT_FULL = "context-full"
    """The prompt leaves no room for an answer; details carry the numbers."""
    MODEL = "model"
    """The model file can't be used."""
    STORAGE = "storage"
    """A file or database can't be read or written (disk full, read-only, gone)."""
    UNAVAILABLE = "unavailable"
    """A part that isn't there right now, such as the embedder."""
    NO_ANSWER = "no-answer"
    """The model gave no usable answer within the attempts of a turn."""


class ErrorBody(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", tag="error.1"):
    """Why a request failed."""

    code: str
    """An `ErrorCode`; a receiver treats an unknown one as ``internal``."""
    message: str
    """A sentence for people: what was tried, with which input, and what went wrong."""
    hint: str = ""
    """What to do about it, or empty."""
    retryable: bool = False
    """Whether the same request can succeed later without anybody changing anything."""
    details: dict[str, str | int] = {}
    """Numbers and names that belong to the message, such as ``prompt_tokens``."""
