"""What a turn of Eris's own is asked; pure."""

from actors.agenda.record import Item

NOBODY_THERE = (
    "The user isn't here now. Say in message_to_user what came of it; propose what you may not do."
)


def prompt_of(item: Item) -> str:
    """Return the text of a turn: the matter first, for by it the tools are found."""
    parts = [item.text if item.text.endswith((".", "!", "?")) else f"{item.text}."]
    if item.plan:
        parts.append(item.plan)
    if item.checklist:
        parts.append("\n".join(f"- {step.text}" for step in item.checklist if not step.done))
    return "\n".join([*(part for part in parts if part), NOBODY_THERE])
