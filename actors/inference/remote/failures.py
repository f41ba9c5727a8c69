"""What a server's refusals and silences mean, in sentences that name it and say what to do."""

import json
import re
from typing import Final

import httpx

from actors.inference.remote.address import Address
from eris.errors import (
    ConfigurationError,
    ContextFullError,
    ErisError,
    InvalidError,
    UnavailableError,
)
from proto.errors import ErrorCode

_LONGEST: Final = 300
_CONTEXT: Final = re.compile(
    r"exceed_context_size|maximum context length|context (size|length|window)", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"\d{2,9}")


class GrammarRefused(InvalidError):  # noqa: N818 - it says what happened
    """The server can't work with this grammar or schema; without it, it can."""


def unreachable(address: Address, error: httpx.HTTPError, start: str) -> ErisError:
    """Say that a server can't be reached; asking again can help."""
    if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout | httpx.PoolTimeout):
        return UnavailableError(
            f"The model server at {address} has been silent for too long.",
            hint="See what it is doing; model.server_seconds says how long it may take.",
            details={"server": str(address)},
        )
    reason = str(error).strip() or type(error).__name__
    return UnavailableError(
        f"The model server at {address} can't be reached: {reason[:_LONGEST].rstrip('.')}.",
        hint=f"{start} If it is elsewhere, correct model.url.",
        code=ErrorCode.UNREACHABLE,
        details={"server": str(address)},
    )


def died(address: Address, model: str, start: str) -> ErisError:
    """Say that the answer stopped in the middle; asking again can help."""
    return UnavailableError(
        f"The model server at {address} stopped in the middle of an answer of {model}.",
        hint=f"It may have been killed, or run out of memory. {start}",
        code=ErrorCode.UNREACHABLE,
        details={"server": str(address)},
    )


def refusal(  # noqa: PLR0911 - one for each meaning
    address: Address, path: str, status: int, body: str, model: str
) -> ErisError:
    """Say what an error of the server means.

    Args:
        address: The server.
        path: What was asked.
        status: Of the answer.
        body: Of the answer; shown in part.
        model: Name of the model that was asked for, or empty.
    """
    said = _message(body)
    server: dict[str, str | int] = {"server": str(address), "status": status}
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        shown = "the key that it was shown" if address.key else "a request without a key"
        return ConfigurationError(
            f"The model server at {address} doesn't accept {shown} ({status}).",
            hint="Set model.api_key_file or model.api_key_env, then: eris restart inference",
            details=server,
        )
    if status == httpx.codes.NOT_FOUND:
        wanted = f" for the model {model}" if model else ""
        return ConfigurationError(
            f"The model server at {address} has nothing at {path}{wanted} (404){_quoted(said)}.",
            hint="Check model.engine, model.url (for OpenAI's protocol it ends with /v1) and "
            "model.server_model.",
            details=server,
        )
    if httpx.codes.is_redirect(status):
        return ConfigurationError(
            f"The model server at {address} points to another address ({status}), which isn't "
            "followed.",
            hint="Set model.url to the address that is meant.",
            details=server,
        )
    if status in {httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY}:
        return _bad_request(address, said, body)
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return UnavailableError(
            f"The model server at {address} has too much to do (429){_quoted(said)}.",
            hint="Try again in a moment.",
            code=ErrorCode.BUSY,
            details=server,
        )
    if status in {
        httpx.codes.BAD_GATEWAY,
        httpx.codes.SERVICE_UNAVAILABLE,
        httpx.codes.GATEWAY_TIMEOUT,
    }:
        return UnavailableError(
            f"The model server at {address} isn't ready ({status}){_quoted(said)}.",
            hint="It may still be loading its model.",
            code=ErrorCode.LOADING,
            details=server,
        )
    return UnavailableError(
        f"The model server at {address} failed ({status}){_quoted(said)}.",
        hint="See the server's own log.",
        details=server,
    )


def _bad_request(address: Address, said: str, body: str) -> ErisError:
    if _CONTEXT.search(body):
        numbers = [int(number) for number in _NUMBER.findall(said)][:4]
        details: dict[str, str | int] = {
            "server": str(address),
            "prompt_tokens": max(numbers, default=0),
        }
        return ContextFullError(
            f"The prompt is too long for the model server at {address}{_quoted(said)}.",
            hint="Condense the conversation, or start the server with a larger context.",
            details=details,
        )
    if "grammar" in body.lower() or "schema" in body.lower():
        return GrammarRefused(
            f"The model server at {address} can't use the form that answers must "
            f"have{_quoted(said)}.",
            hint="Its limit is in its own parser; fewer tools at once make it smaller: "
            "router.limit.",
            details={"server": str(address)},
        )
    return InvalidError(
        f"The model server at {address} refuses the request{_quoted(said)}.",
        hint="Check that model.engine is what the server is.",
        details={"server": str(address)},
    )


def _quoted(said: str) -> str:
    return f": {said.rstrip('.')}" if said else ""


def _message(body: str) -> str:
    """Find the sentence in an error's body: every server puts it somewhere else."""
    try:
        found: object = json.loads(body)
    except ValueError:
        found = body
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    text = found if isinstance(found, str) else json.dumps(found)
    return " ".join(text.split())[:_LONGEST]
