"""Structured logs: one JSON object a line, to a rotated file, never to a user's screen.

structlog writes them. It's imported when logging starts and not before: the command line, which
logs nothing, need not pay for it, and the bus forwards messages before it has a log.
"""

import logging
import logging.handlers
import sys
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, Protocol, Self

FILE_BYTES = 4 * 1024 * 1024
"""A log file is rotated at this size."""

FILES_KEPT = 3
"""Rotated files kept besides the current one."""


class Logger(Protocol):
    """What the rest of Eris knows of a logger: an event's name and its fields."""

    def bind(self, **fields: Any) -> Self:
        """Return a logger that adds these fields to every event."""

    def debug(self, event: str, **fields: Any) -> Any:
        """Log what only somebody looking for a defect wants to see."""

    def info(self, event: str, **fields: Any) -> Any:
        """Log what happened."""

    def warning(self, event: str, **fields: Any) -> Any:
        """Log what went wrong and was dealt with."""

    def error(self, event: str, **fields: Any) -> Any:
        """Log what went wrong and cost something."""

    def exception(self, event: str, **fields: Any) -> Any:
        """Log an error with the traceback of the exception being handled."""


class SilentLogger:
    """The logger of a process that keeps no log."""

    def bind(self, **_fields: Any) -> Self:
        """See `Logger`."""
        return self

    def debug(self, event: str, **fields: Any) -> None:
        """See `Logger`."""

    info = warning = error = exception = debug


class Secret:
    """A value that must not be written anywhere: every log shows it as ``[secret]``."""

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value, for the one place that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "[secret]"


def _redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> Any:
    for key, value in event.items():
        if isinstance(value, Secret):
            event[key] = repr(value)
    return event


def _import_structlog() -> Any:
    """Import structlog without its development console.

    Where rich is installed that console imports it: 200 ms and 17 MB in every process, for
    something that only a screen could show.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        import structlog  # noqa: PLC0415

        return structlog
    sys.modules["rich"] = None  # type: ignore[assignment]
    try:
        import structlog  # noqa: PLC0415
    finally:
        del sys.modules["rich"]
    return structlog


def start_logging(name: str, folder: Path, level: str = "info") -> Logger:
    """Send this process's logs to ``<folder>/<name>.log`` and return its logger.

    Args:
        name: The process's name; also a field of every line.
        folder: Where the files go; made if it isn't there.
        level: ``debug``, ``info``, ``warning`` or ``error``.
    """
    structlog = _import_structlog()
    folder.mkdir(parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        folder / f"{name}.log",
        maxBytes=FILE_BYTES,
        backupCount=FILES_KEPT,
        encoding="utf-8",
        delay=True,
    )
    shared = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=False),
        _redact,
    ]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False, default=repr),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logger: Logger = structlog.get_logger("eris").bind(process=name)
    return logger
