"""The index of the vault: derived from the notes, kept in the state folder, made anew at need.

`VaultIndex` is its only name for the rest of the actor. Modules: `schema` (tables), `extracting`
(a note as rows), `walking` (what's on the disk), `storing` (rows in and out), `building` (passes
over the vault), `searching`, `excerpts`, `regexes`, `properties` and `graph` (questions).
"""

from actors.vault.index.building import Pass
from actors.vault.index.excerpts import Excerpt
from actors.vault.index.extracting import link_key
from actors.vault.index.graph import FoundHeading, FoundLink, FoundTask, TagCount
from actors.vault.index.index import IndexState, VaultIndex
from actors.vault.index.properties import Row, Table
from actors.vault.index.searching import Found, SearchResults

__all__ = [
    "Excerpt",
    "Found",
    "FoundHeading",
    "FoundLink",
    "FoundTask",
    "IndexState",
    "Pass",
    "Row",
    "SearchResults",
    "Table",
    "TagCount",
    "VaultIndex",
    "link_key",
]
