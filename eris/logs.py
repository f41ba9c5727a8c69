"""Structured logs: one JSON object a line, to a rotated file, never to a user's screen."""

import logging
import logging.handlers
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

FILE_BYTES = 4 * 1024 * 1024
"""A log file is rotated at this size."""

FILES_KEPT = 3
"""Rotated files kept besides the current one."""


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


def start_logging(name: str, folder: Path, level: str = "info") -> structlog.stdlib.BoundLogger:
    """Send this process's logs to ``<folder>/<name>.log`` and return its logger.

    Args:
        name: The process's name; also a field of every line.
        folder: Where the files go; made if it isn't there.
        level: ``debug``, ``info``, ``warning`` or ``error``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    handler = logging.handlers.RotatingFileHandler(
        folder / f"{name}.log",
        maxBytes=FILE_BYTES,
        backupCount=FILES_KEPT,
        encoding="utf-8",
        delay=True,
    )
    shared: list[structlog.typing.Processor] = [
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
    logger: structlog.stdlib.BoundLogger = structlog.get_logger("eris").bind(process=name)
    return logger
