"""Tools for skills: notes that say how certain work is done."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from actors.vault.service import VaultService
from actors.vault.tools.shared import MOST_SHOWN, Offset, cause_of, line_told, list_told, sentence
from eris.tools import Call, Outcome, Tool
from proto.tools import Effect


class ListSkills(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``skills:list``."""

    offset: Offset = 0


class ReadSkill(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``skills:read``."""

    name: Annotated[str, Meta(description="The skill, such as meeting-minutes", min_length=1)]


class CreateSkill(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of ``skills:create``."""

    name: Annotated[str, Meta(description="Short name, such as meeting-minutes", min_length=1)]
    description: Annotated[
        str, Meta(description="A sentence: what it does, and when it's wanted", min_length=1)
    ]
    body: Annotated[str, Meta(description="The instructions, step by step", min_length=1)]


def skill_tools(service: VaultService) -> tuple[Tool[Any], ...]:
    """Declare them."""

    def list_skills(arguments: ListSkills, _call: Call) -> Outcome:
        known = service.skills.all()
        shown = known.found[arguments.offset : arguments.offset + MOST_SHOWN]
        problems = [f"{each.path}: {each.message}" for each in known.problems[:3]]
        return list_told(
            "The skills are:" if known.found else "There are no skills yet.",
            [f"{each.name}: {line_told(each.description)}" for each in shown],
            len(known.found),
            arguments.offset,
            "skills:list",
            " ".join(problems),
        )

    def read_skill(arguments: ReadSkill, _call: Call) -> Outcome:
        skill = service.skills.read(arguments.name)
        return Outcome(content=skill.body, data={"path": skill.path, "name": skill.name})

    def create_skill(arguments: CreateSkill, call: Call) -> Outcome:
        skill, receipt = service.skills.create(
            cause_of(call, "skills:create"), arguments.name, arguments.description, arguments.body
        )
        message = f"created the skill {skill.name} in {receipt.path}"
        return Outcome(
            content=sentence(message),
            receipt=message,
            data={"path": receipt.path, "name": skill.name},
        )

    return (
        Tool(
            name="skills:list",
            description="List the skills: instructions for how certain work is done.",
            hints=(
                "Which skills do you have?",
                "list your skills",
                "What skills are there?",
                "Show me the skills you know.",
                "Do you have a skill for meeting minutes?",
                "What instructions do you have for recurring work?",
            ),
            arguments=ListSkills,
            handler=list_skills,
            effect=Effect.READ,
        ),
        Tool(
            name="skills:read",
            description="Read one skill: the instructions for certain work.",
            hints=(
                "Show me the skill meeting-minutes.",
                "What does the skill weekly-review say?",
                "Read the instructions of the skill invoice.",
                "How does your skill for minutes work?",
                "Open the skill code-review.",
                "Use the skill meeting-minutes.",
            ),
            arguments=ReadSkill,
            handler=read_skill,
            effect=Effect.READ,
            aliases=dict.fromkeys(("skill", "skill_name", "title", "path"), "name"),
        ),
        Tool(
            name="skills:create",
            description="Create a skill: save instructions for how certain work is to be done from "
            "now on.",
            hints=(
                "Create a skill called weekly-review.",
                "Make a new skill for writing invoices.",
                "Save these steps as a skill.",
                "Teach yourself a skill: how I like my minutes.",
                "Turn this procedure into a skill.",
                "Learn a new skill from these instructions.",
            ),
            arguments=CreateSkill,
            handler=create_skill,
            effect=Effect.WRITE,
            aliases=dict.fromkeys(("skill", "skill_name", "title"), "name")
            | dict.fromkeys(("content", "text", "instructions", "steps"), "body")
            | dict.fromkeys(("summary", "purpose", "when"), "description"),
            receipt="created the skill {name} in {path}",
        ),
    )
