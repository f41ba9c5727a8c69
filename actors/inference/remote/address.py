"""Which server is talked to, and with which key: decided once, from the settings alone."""

import ipaddress
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from eris.config import ModelSettings
from eris.errors import ConfigurationError

USUAL: Final[Mapping[str, str]] = {
    "llama-server": "http://127.0.0.1:8080",
    "openai": "http://127.0.0.1:8000/v1",
    "ollama": "http://127.0.0.1:11434",
}
"""Address of each engine's server if nothing else is said."""

_OTHERS: Final = 0o077


@dataclass(frozen=True)
class Address:
    """Where the server is.

    Attributes:
        url: Without a key in it: may be shown and logged.
        loopback: Whether it's on this machine.
        key: What it wants to be shown, or empty. Never shown or logged.
    """

    url: httpx.URL
    loopback: bool
    key: str = field(repr=False)

    def at(self, path: str) -> httpx.URL:
        """Return the address of a path below the server's own."""
        return self.url.copy_with(path=self.url.path.rstrip("/") + path)

    def __str__(self) -> str:
        """The address as people write it."""
        return str(self.url).rstrip("/")


def address_of(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> Address:
    """Return the server of the settings.

    Raises:
        ConfigurationError: There is none, it's on another machine without leave, or the key
            can't be had.
    """
    text = settings.url or USUAL[settings.engine]
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ConfigurationError(
            f"model.url can't be {text!r}: {error}.", hint="Write it like http://127.0.0.1:8080"
        ) from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigurationError(
            f"model.url can't be {text!r}: it names no server.",
            hint="Write it like http://127.0.0.1:8080",
        )
    if url.userinfo or url.query or url.fragment:
        # Whatever is in a URL is shown by `eris status` and in errors.
        raise ConfigurationError(
            f"model.url must be an address alone, such as {url.scheme}://{url.netloc.decode()}: "
            "no key, user or query belongs in it.",
            hint="Keys come from model.api_key_file or model.api_key_env.",
        )
    loopback = _is_loopback(url.host)
    if not loopback and not settings.allow_remote:
        raise ConfigurationError(
            f"{url.host} is not this machine: everything you say, and the notes that an answer "
            "needs, would be sent there.",
            hint="If you want that: eris config set --user model.allow_remote true",
        )
    return Address(url, loopback, _key(settings, os.environ if environ is None else environ))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key(settings: ModelSettings, environ: Mapping[str, str]) -> str:
    if settings.api_key_file and settings.api_key_env:
        raise ConfigurationError(
            "model.api_key_file and model.api_key_env are both set.", hint="Keep one of them."
        )
    if settings.api_key_env:
        key = environ.get(settings.api_key_env, "").strip()
        source = f"The variable {settings.api_key_env} (model.api_key_env)"
    elif settings.api_key_file:
        path = Path(settings.api_key_file).expanduser()
        key, source = _read(path), f"The file {path} (model.api_key_file)"
    else:
        return ""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"{source} holds no usable key.", hint="A key is one line of letters and signs."
        )
    return key


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(1 << 16)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The key file {path} (model.api_key_file) can't be read: {error}.",
            hint="It must be a readable text file with the key alone.",
        ) from error
    if mode & _OTHERS:
        raise ConfigurationError(
            f"The key file {path} can be read by others (mode {mode:04o}).",
            hint=f"Keep it to yourself: chmod 600 {path}",
        )
    return text.strip()
