"""Who may send what to whom: the table that the bus enforces.

A role is a connection's name up to the first dot: ``console.4f2a`` has the role ``console``.
A reply, stream item, end or error is allowed from A to B exactly where B may send A a request.
Everybody may talk to the bus itself.
"""

from collections.abc import Mapping

ACTORS = ("inference", "router", "gatekeeper", "vault", "memory", "agenda", "orchestrator")
"""Processes that do the work and are started by the supervisor."""

TOOL_OWNERS = ("vault", "agenda", "memory")
"""Actors that carry out tools."""

_CONVERSATION = (
    "orchestrator.submit.1",
    "orchestrator.cancel.1",
    "orchestrator.new-session.1",
    "orchestrator.sessions.1",
    "subscribe.1",
)
_NOTES = (
    "vault.read.1",
    "vault.outline.1",
    "vault.list.1",
    "vault.search.1",
    "vault.query.1",
    "vault.links.1",
    "vault.properties.1",
    "vault.tags.1",
    "vault.tasks.1",
    "vault.edit.1",
    "vault.move.1",
    "vault.trash.1",
    "vault.daily.1",
    "vault.undo.1",
    "vault.history.1",
    "vault.diff.1",
    "vault.restore.1",
    "vault.blame.1",
    "vault.index.1",
)
_MEMORY = (
    "memory.search.1",
    "memory.list.1",
    "memory.keep.1",
    "memory.resolve.1",
    "memory.ingest.1",
    "memory.documents.1",
    "memory.read-document.1",
    "memory.forget-document.1",
    "memory.core.1",
    "memory.describe.1",
    "memory.rebuild.1",
)
_AGENDA = (
    "subscribe.1",
    "agenda.add.1",
    "agenda.change.1",
    "agenda.resolve.1",
    "agenda.list.1",
    "agenda.delivery.1",
    "agenda.explain.1",
    "agenda.simulate.1",
    "agenda.pause.1",
    "agenda.resume.1",
    "agenda.describe.1",
)
_USER_AT_THE_MACHINE: Mapping[str, tuple[str, ...]] = {
    "orchestrator": (*_CONVERSATION, "orchestrator.context.1"),
    "gatekeeper": ("gatekeeper.tools.1", "gatekeeper.ledger.1"),
    "vault": _NOTES,
    "memory": _MEMORY,
    "agenda": _AGENDA,
    "inference": ("inference.describe.1",),
    "erisd": ("supervisor.status.1", "supervisor.restart.1", "supervisor.shutdown.1"),
}

RIGHTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Sender's role -> receiver's role -> message types.
    "console": _USER_AT_THE_MACHINE,
    "cli": _USER_AT_THE_MACHINE,
    "web": _USER_AT_THE_MACHINE,
    "api": {"orchestrator": _CONVERSATION, "inference": ("inference.describe.1",)},
    "discord": {"orchestrator": _CONVERSATION},
    "orchestrator": {
        "router": ("router.route.1",),
        "gatekeeper": ("gatekeeper.offer.1", "gatekeeper.invoke.1", "gatekeeper.ledger.1"),
        "inference": (
            "inference.describe.1",
            "inference.count.1",
            "inference.tokenize.1",
            "inference.generate.1",
        ),
        "memory": ("memory.recall.1", "subscribe.1"),
        # Whether a process that is away will come back.
        "erisd": ("supervisor.status.1",),
    },
    "router": {
        "gatekeeper": ("gatekeeper.tools.1", "subscribe.1"),
        "memory": ("memory.embed.1",),
        "vault": ("vault.name.1",),
    },
    "gatekeeper": dict.fromkeys(TOOL_OWNERS, ("tool.call.1",)),
    **{owner: {"gatekeeper": ("gatekeeper.register.1",)} for owner in TOOL_OWNERS},
    "vault": {"gatekeeper": ("gatekeeper.register.1",), "router": ("router.skills.1",)},
    "memory": {
        "gatekeeper": ("gatekeeper.register.1",),
        # Follows the notes, and writes those that it's asked to remember.
        "vault": (
            "subscribe.1",
            "vault.states.1",
            "vault.read-file.1",
            "vault.read.1",
            "vault.edit.1",
            "vault.move.1",
            "vault.trash.1",
        ),
        "orchestrator": ("orchestrator.turns.1",),
    },
    "agenda": {
        "gatekeeper": ("gatekeeper.register.1",),
        # Turns of Eris's own, and what came of them.
        "orchestrator": ("orchestrator.submit.1", "subscribe.1"),
        # Tasks in notes: what is ticked here is ticked there.
        "vault": ("subscribe.1", "vault.tasks.1", "vault.read.1", "vault.edit.1"),
        # How the system is, for a tool that tells the model.
        "erisd": ("supervisor.status.1",),
        "inference": ("inference.describe.1",),
        "memory": ("memory.describe.1",),
    },
    "erisd": dict.fromkeys(ACTORS, ("ping.1",)),
    # Programs that measure or test the bus itself, among themselves.
    "bench": {
        "bench": ("bench.echo.1", "bench.count.1", "bench.repeat.1", "ping.1", "subscribe.1")
    },
}

LOCAL_ROLES = frozenset({"erisd", *ACTORS, "bench"})
"""Roles that exist on the machine of the vault only; never granted to a key of another machine."""


def role_of(name: str) -> str:
    """Return the role of a connection's name."""
    return name.partition(".")[0]


def may_request(sender: str, receiver: str, message_type: str) -> bool:
    """Whether ``sender`` may send a request (or ping) of this type to ``receiver``."""
    return message_type in RIGHTS.get(role_of(sender), {}).get(role_of(receiver), ())


def may_answer(sender: str, receiver: str) -> bool:
    """Whether ``sender`` may answer ``receiver``: somebody who could have asked it."""
    return role_of(sender) in RIGHTS.get(role_of(receiver), {})
