"""Every error that Eris raises on purpose.

- ErisError
  - ConfigurationError   a setting is wrong; the process exits 78
  - StorageError         a file or database can't be read or written
  - NotFoundError        what was asked for isn't there
  - InvalidError         well-formed input that makes no sense
  - ConflictError        something else has it, or has changed it
  - DeniedError          not permitted
  - UnavailableError     a part that isn't there right now; retrying can help
  - ModelError           a model file can't be used
    - NotGGUFError       the file isn't GGUF
    - TruncatedGGUFError the file ends before its tensors do
  - ContextFullError     a prompt leaves no room for an answer
  - ProtocolError        bytes from another process that break the protocol
  - CancelledWorkError   somebody asked for the work to stop
  - RemoteError          another process answered with an error

Each says in one sentence what was tried, with which input and what went wrong; ``hint`` says what
to do about it. ``code`` is one of `proto.errors.ErrorCode`, so that an error keeps its meaning
when it crosses to another process.
"""

from collections.abc import Mapping
from typing import ClassVar

from proto.errors import ErrorBody, ErrorCode


class ErisError(Exception):
    """Base of every error raised on purpose."""

    default_code: ClassVar[ErrorCode] = ErrorCode.INTERNAL
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        code: str | None = None,
        retryable: bool | None = None,
        details: Mapping[str, str | int] | None = None,
    ) -> None:
        """Create the error.

        Args:
            message: A sentence for people that names the input.
            hint: What to do about it.
            code: An `ErrorCode`; the class's own by default.
            retryable: Whether the same request can succeed later; the class's own by default.
            details: Numbers and names for programs.
        """
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = str(self.default_code) if code is None else str(code)
        self.retryable = self.default_retryable if retryable is None else retryable
        self.details: dict[str, str | int] = dict(details or {})

    def body(self) -> ErrorBody:
        """The error as it travels."""
        return ErrorBody(
            code=self.code,
            message=self.message,
            hint=self.hint,
            retryable=self.retryable,
            details=self.details,
        )


class ConfigurationError(ErisError):
    """A setting is wrong; nothing helps but changing it."""

    default_code = ErrorCode.CONFIGURATION


class StorageError(ErisError):
    """A file or database can't be read or written."""

    default_code = ErrorCode.STORAGE


class NotFoundError(ErisError):
    """What was asked for isn't there."""

    default_code = ErrorCode.NOT_FOUND


class InvalidError(ErisError):
    """Well-formed input that makes no sense."""

    default_code = ErrorCode.INVALID


class ConflictError(ErisError):
    """Something else has it, or has changed it."""

    default_code = ErrorCode.CONFLICT


class DeniedError(ErisError):
    """Not permitted."""

    default_code = ErrorCode.DENIED


class UnavailableError(ErisError):
    """A part that isn't there right now."""

    default_code = ErrorCode.UNAVAILABLE
    default_retryable = True


class ModelError(ErisError):
    """A model file can't be used."""

    default_code = ErrorCode.MODEL


class NotGGUFError(ModelError):
    """The file isn't GGUF."""


class TruncatedGGUFError(ModelError):
    """The file ends before its tensors do."""


class ContextFullError(ErisError):
    """A prompt leaves no room for an answer; ``details`` carries the numbers."""

    default_code = ErrorCode.CONTEXT_FULL


class ProtocolError(ErisError):
    """Bytes from another process that break the protocol."""

    default_code = ErrorCode.BAD_MESSAGE


class CancelledWorkError(ErisError):
    """Somebody asked for the work to stop."""

    default_code = ErrorCode.CANCELLED


class RemoteError(ErisError):
    """Another process answered with an error; its code, hint and details are kept."""

    def __init__(self, body: ErrorBody, peer: str) -> None:
        """Create the error from what ``peer`` answered."""
        super().__init__(
            body.message,
            hint=body.hint,
            code=body.code,
            retryable=body.retryable,
            details=body.details,
        )
        self.peer = peer
