"""The skills of the vault: found, read and made. They are notes like any other."""

import threading
from collections.abc import Callable, Sequence

import msgspec

from actors.vault.folder import Kind
from actors.vault.index.walking import Signature, look
from actors.vault.lookup import Lookup
from actors.vault.scan import Budget, scan
from actors.vault.service.finding import Finder
from actors.vault.steps import Cause, Receipt
from actors.vault.writing import Mode, NoteWriter
from eris.errors import ErisError, InvalidError, NotFoundError
from eris.vault.skills import (
    LONGEST_FILE,
    Problem,
    Skill,
    Skills,
    is_skill_file,
    name_from,
    new_skill,
    read_skills,
    skill_path,
)


class SkillNotes:
    """Looks after the skills; thread-safe."""

    def __init__(
        self,
        lookup: Lookup,
        finder: Finder,
        writer: NoteWriter,
        folders: Sequence[str],
        *,
        clock: Callable[[], float],
    ) -> None:
        """Create it.

        Args:
            lookup: Opens folders.
            finder: Reads notes.
            writer: Makes new ones.
            folders: Where skills are; new ones go into the first.
            clock: A clock that only goes forward, in seconds.
        """
        self._lookup = lookup
        self._finder = finder
        self._writer = writer
        self._folders = tuple(folders)
        self._clock = clock
        self._told: Skills | None = None
        self._files_told: dict[str, Signature] = {}
        self._lock = threading.Lock()

    def all(self) -> Skills:
        """Return the skills as they are now."""
        files: dict[str, str] = {}
        problems: list[Problem] = []
        for path in self._files():
            try:
                files[path] = self._finder.at(path).text[: LONGEST_FILE + 1]
            except ErisError as error:
                problems.append(Problem(path, f"{error.message} {error.hint}".strip()))
        found = read_skills(files.items())
        return Skills(found.found, (*found.problems, *problems))

    def changed(self) -> Skills | None:
        """Return the skills if they aren't as they were when this was asked last."""
        with self._lock:
            files = self._signatures()
            if self._told is not None and files == self._files_told:
                return None
            self._files_told = files
        skills = self.all()
        with self._lock:
            same = self._told == skills
            self._told = skills
        return None if same else skills

    def read(self, name: str) -> Skill:
        """Return the skill that is meant.

        Raises:
            NotFoundError: There's none of that name.
        """
        skills = self.all()
        wanted = {name.strip(), name_from(name)}
        for skill in skills.found:
            if skill.name in wanted:
                return skill
        names = ", ".join(skill.name for skill in skills.found)
        raise NotFoundError(
            f"There is no skill {name.strip()}.",
            hint=f"There are: {names}." if names else "There are no skills yet.",
        )

    def create(self, cause: Cause, name: str, description: str, body: str) -> tuple[Skill, Receipt]:
        """Make a skill.

        Raises:
            ConflictError: There's one of that name.
            ErisError: It breaks the rules of skills, or can't be written.
        """
        if not self._folders:
            raise InvalidError(
                "There is no folder for skills.", hint="Name one in the setting vault.skills."
            )
        plain = name_from(name) or name
        text = new_skill(plain, description, body)
        path = skill_path(self._folders[0], plain)
        receipt = self._writer.write(cause, path, text, Mode.CREATE)
        skill = Skill(name=plain, description=description, path=receipt.path, body=body)
        return skill, msgspec.structs.replace(receipt, folder="")

    def _files(self) -> list[str]:
        return list(self._signatures())

    def _signatures(self) -> dict[str, Signature]:
        """What tells whether a file of a skill was written, without reading it."""
        found: dict[str, Signature] = {}
        for name in self._folders:
            try:
                with self._lookup.folder(name) as folder:
                    below = scan(folder, Budget.starting(self._clock))
                    files = (look(*each) for each in below if each[1].kind is Kind.FILE)
                    skills = [each for each in files if each and is_skill_file(each.path)]
            except ErisError:
                continue  # Made with the first skill.
            for each in sorted(skills, key=lambda each: each.path):
                found.setdefault(each.path, each.signature)
        return found
