"""Where Eris may write when nobody asked it to: a turn that a reminder started."""

from collections.abc import Sequence
from dataclasses import dataclass

from actors.vault.service import VaultService
from eris.config import VaultSettings
from eris.errors import DeniedError
from eris.tools import Call
from eris.vault.names import folded
from proto.tools import Origin


@dataclass(frozen=True)
class OwnFolder:
    """A folder of the vault, without what would change how Eris itself behaves."""

    folder: str
    except_for: Sequence[str] = ()
    """Notes and folders in it, such as those of the skills."""

    @classmethod
    def by(cls, settings: VaultSettings, core_note: str) -> "OwnFolder":
        """Return the folder that the settings name.

        Args:
            settings: Of the vault.
            core_note: The note that is told to the model in every turn; empty for the usual one.
        """
        core = core_note or f"{settings.agent_folder}/About me.md"
        return cls(settings.agent_folder, (*settings.skills, core))

    def check(self, service: VaultService, call: Call, path: str) -> None:
        """Check that a call may write a note; the user's may write all.

        Raises:
            DeniedError: It may not.
            ErisError: It isn't clear which note is meant.
        """
        if call.origin is Origin.USER:
            return
        place, _ = service.finder.place(path)
        inside = _within(place, self.folder)
        if not inside or any(_within(place, each) for each in self.except_for):
            raise DeniedError(
                f"A turn of Eris's own may not write {place}.",
                hint=f"Write to {self.folder}/, or tell the user what you propose.",
            )


def _within(path: str, folder: str) -> bool:
    return folded(path) == folded(folder) or folded(path).startswith(f"{folded(folder)}/")
