"""Layouts: the folders, notes and settings that a new vault begins with; pure.

A layout is nothing but a beginning. What Eris may write, and where, is said by the settings alone,
in any vault; folders can be renamed as long as the settings are too.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from eris.config import MemorySettings, VaultSettings


class LayoutName(StrEnum):
    """What a new vault can be made like."""

    PLAIN = "plain"
    """One note of welcome."""
    NUMBERED = "numbered"
    """Five numbered folders, from what always holds to what came of it."""


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """How a new vault begins."""

    notes: Mapping[str, str]
    """Text of each note by path."""
    settings: VaultSettings = VaultSettings()
    memory: MemorySettings = MemorySettings()

    @property
    def folders(self) -> tuple[str, ...]:
        """Every folder that has a note, the outer ones first."""
        return tuple(sorted({path.rpartition("/")[0] for path in self.notes} - {""}))

    @property
    def changed_settings(self) -> Mapping[str, object]:
        """What its settings say that isn't the default, by dotted key."""
        return {
            f"{section}.{name}": value
            for section, chosen in (("vault", self.settings), ("memory", self.memory))
            for name in chosen.__struct_fields__
            if (value := getattr(chosen, name)) != getattr(type(chosen)(), name)
        }


_WELCOME = """\
# Welcome

This folder is your vault: plain Markdown files that any editor can open. Eris reads and writes
them when you ask it to, for example:

- Save a note in ideas.md saying that tomatoes need more sun.
- What does my note ideas.md say?
"""

_INVARIANTS = """\
# Invariants

What always holds: who you are, what you care about, how you want things to be done. You write
these notes. Eris reads them and can't change them: the folder is in `vault.read_only` of
`.eris/config.toml`.
"""

_TOPOLOGY = """\
# Topology

How your world is laid out: people, projects, places, devices, and where to find what. One note
for each, changed when the world changes.
"""

_SKILLS = """\
# Skills

How certain work is done. Every folder here with a note `SKILL.md` is a skill; Eris follows it when
its description fits what you ask for. `meeting-minutes/SKILL.md` could be:

    ---
    name: meeting-minutes
    description: Turns a transcript into minutes. Use it after a meeting.
    ---
    1. List who was there.
    2. List what was decided, and who does it until when.

A name has lower-case letters, digits and single hyphens, and the folder is called like it.
"""

_DISCOURSE = """\
# Discourse

What was talked about, tried and done: minutes, drafts, lists, and the notes that Eris makes of its
own accord. Nothing here is final.
"""

_SYNTHESIS = """\
# Synthesis

What came of it. Every subject has a folder of its own with its revisions: `heat-pump/r0001.md`,
`heat-pump/r0002.md` and so on. The highest number holds. Whoever knows better adds a revision and
leaves the earlier ones as they are.
"""

_MEDIA = """\
# Media

Pictures, recordings and documents, with a note about each that says what it is and where it came
from.
"""

LAYOUTS: Mapping[LayoutName, Layout] = {
    LayoutName.PLAIN: Layout(notes={"Welcome.md": _WELCOME}),
    LayoutName.NUMBERED: Layout(
        notes={
            "Welcome.md": _WELCOME,
            "00_Invariants/README.md": _INVARIANTS,
            "10_Topology/README.md": _TOPOLOGY,
            "10_Topology/skills/README.md": _SKILLS,
            "20_Discourse/README.md": _DISCOURSE,
            "30_Synthesis/README.md": _SYNTHESIS,
            "40_MEDIA/README.md": _MEDIA,
        },
        settings=VaultSettings(
            read_only=("00_Invariants",),
            agent_folder="20_Discourse",
            skills=("10_Topology/skills",),
        ),
        memory=MemorySettings(layout="revisions"),
    ),
}
