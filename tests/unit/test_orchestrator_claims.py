"""Which answers claim that something was saved."""

import pytest

from actors.orchestrator.claims import (
    NOTHING_CHANGED,
    Language,
    asks_about_the_past,
    claimed,
    without_claims,
)

EN, DE = Language.ENGLISH, Language.GERMAN


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Saved!", EN),
        ("Done.", EN),
        ("I've saved your note in notes/today.md.", EN),
        ("I\N{RIGHT SINGLE QUOTATION MARK}ve just added milk to the list.", EN),
        ("I have successfully created the file.", EN),
        ("Okay, saved to notes/today.md.", EN),
        ("The note has been saved.", EN),
        ('The note "buy milk" was saved in notes/today.md.', EN),
        ("Sure. It was added to your list.", EN),
        ("Your appointment on 10 September has been recorded.", EN),
        ("I'll remember that.", EN),
        ("I will remind you at nine.", EN),
        ("I saved it so that you can't forget it.", EN),
        ("Ich habe die Notiz gespeichert.", DE),
        ("Die Notiz wurde in notes/today.md gespeichert.", DE),
        ("Gespeichert!", DE),
        ("Erledigt.", DE),
        ("Ich merke mir das.", DE),
        ("Ich werde dich daran erinnern.", DE),
        ("Der Termin ist eingetragen.", DE),
    ],
)
def test_a_claim_is_recognised(message, language):
    assert claimed(message) is language


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Hello! How can I help?",
        "I couldn't save the note.",
        "I have not saved anything.",
        "Nothing has been saved or changed.",
        "Should I save it?",
        "If you like, I'll save it.",
        "I can save notes for you.",
        "Python was created in 1991 by Guido van Rossum.",
        "The book was written by Goethe.",
        "Your note says: buy milk.",
        "To save a note, tell me its name.",
        "Ich konnte die Notiz nicht speichern.",
        "Die Notiz wurde nicht gespeichert.",
        "Soll ich das notieren?",
        "Das Buch wurde von Goethe geschrieben.",
    ],
)
def test_an_answer_that_claims_nothing_is_left_alone(message):
    assert claimed(message) is None


@pytest.mark.parametrize(
    ("message", "language", "expected"),
    [
        ("Saved!", EN, NOTHING_CHANGED[EN]),
        (
            "Good idea. I've saved it in notes/today.md. Enjoy!",
            EN,
            f"Good idea. Enjoy!\n\n{NOTHING_CHANGED[EN]}",
        ),
        ("Gern. Ich habe es gespeichert.", DE, f"Gern.\n\n{NOTHING_CHANGED[DE]}"),
    ],
)
def test_the_truth_takes_the_place_of_the_claim(message, language, expected):
    corrected = without_claims(message, language)
    assert corrected == expected
    assert claimed(corrected) is None


def test_words_of_a_note_are_repeated_and_not_claimed():
    note = "diary.md:\nToday I saved 20 euros."
    assert claimed("Your diary says: Today I saved 20 euros.", [note]) is None
    assert claimed("I've saved it in diary.md.", [note]) is EN


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("Did you save it?", True),
        ("What have you saved?", True),
        ("Hast du das gespeichert?", True),
        ("Can you save it?", False),
        ("Please remember 10 September", False),
        ("Save it.", False),
    ],
)
def test_questions_about_the_past_are_told_from_requests(text, past):
    assert asks_about_the_past(text) is past
