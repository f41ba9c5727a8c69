"""Models: the catalogue of those with a name, and the store of those on this machine."""

from eris.models.catalogue import (
    Hub,
    ModelEntry,
    ModelFile,
    Part,
    Registry,
    Use,
    catalogue,
    default_model,
)
from eris.models.fetching import Progress
from eris.models.sizes import megabytes
from eris.models.store import ModelStatus, ModelStore, Plan, Presence, Verdict

__all__ = [
    "Hub",
    "ModelEntry",
    "ModelFile",
    "ModelStatus",
    "ModelStore",
    "Part",
    "Plan",
    "Presence",
    "Progress",
    "Registry",
    "Use",
    "Verdict",
    "catalogue",
    "default_model",
    "megabytes",
]
