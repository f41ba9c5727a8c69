"""Settings that Obsidian left, whole, partial and broken."""

import json

import pytest

from eris.vault.names import Names
from eris.vault.settings import (
    LinkFormat,
    NewFileLocation,
    Settings,
    TrashOption,
    attachment_folder,
    attachment_path,
    ignored,
    new_note_folder,
    read_settings,
)


def test_everything_that_obsidian_writes_is_read():
    settings = read_settings(
        app=json.dumps(
            {
                "newLinkFormat": "relative",
                "useMarkdownLinks": True,
                "attachmentFolderPath": "./files",
                "newFileLocation": "folder",
                "newFileFolderPath": "Inbox/",
                "userIgnoreFilters": ["Archive/", "/^tmp/"],
                "alwaysUpdateLinks": True,
                "trashOption": "local",
                "promptDelete": False,
            }
        ),
        daily_notes='{"folder": "/Journal/", "format": "YYYY/MM/DD", "template": "T/Daily"}',
        types='{"types": {"due": "date", "rating": 3}}',
        core_plugins='{"daily-notes": true, "graph": false}',
        templates='{"folder": "T", "dateFormat": "D.M.YYYY", "timeFormat": "h:mm A"}',
    )
    assert settings == Settings(
        link_format=LinkFormat.RELATIVE,
        markdown_links=True,
        attachment_path="./files",
        new_file_location=NewFileLocation.FOLDER,
        new_file_folder="Inbox",
        ignore_filters=("Archive/", "/^tmp/"),
        always_update_links=True,
        trash=TrashOption.LOCAL,
        daily_folder="Journal",
        daily_format="YYYY/MM/DD",
        daily_template="T/Daily",
        template_folder="T",
        date_format="D.M.YYYY",
        time_format="h:mm A",
        property_types={"due": "date"},
        core_plugins={"daily-notes": True, "graph": False},
    )


@pytest.mark.parametrize("text", [None, "", " \n", "\ufeff", "{}", "\ufeff{}"])
def test_without_settings_the_defaults_hold_and_nothing_is_remarked(text):
    assert read_settings(text, text, text, text, text) == Settings()


def test_older_versions_list_the_plugins_that_are_on():
    settings = read_settings(core_plugins='["daily-notes", "templates"]', types="[]")
    assert settings.core_plugins == {"daily-notes": True, "templates": True}
    assert settings.remarks == ("types.json isn't a JSON object; Obsidian's defaults are taken.",)


@pytest.mark.parametrize("text", ['{"newLinkFormat": ', "[]", "3", "nonsense", "[" * 100_000])
def test_a_broken_file_is_remarked_and_the_others_still_count(text):
    settings = read_settings(app=text, daily_notes='{"folder": "Journal"}')
    assert settings.link_format is LinkFormat.SHORTEST
    assert settings.daily_folder == "Journal"
    assert len(settings.remarks) == 1
    assert settings.remarks[0].startswith("app.json ")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("newLinkFormat", "longest"),
        ("newLinkFormat", 3),
        ("useMarkdownLinks", "yes"),
        ("userIgnoreFilters", "Archive/"),
        ("userIgnoreFilters", [3]),
        ("userIgnoreFilters", ["/(/"]),
        ("trashOption", "bin"),
        ("attachmentFolderPath", ["a"]),
    ],
)
def test_a_wrong_value_is_remarked_by_name_and_the_rest_is_read(key, value):
    settings = read_settings(app=json.dumps({key: value, "alwaysUpdateLinks": True}))
    assert settings.always_update_links
    assert len(settings.remarks) == 1
    assert key in settings.remarks[0]
    assert not ignored("Note.md", settings)


@pytest.mark.parametrize("text", ['{"format": ""}', '{"format": null}', "{}"])
def test_an_empty_format_is_the_default(text):
    settings = read_settings(daily_notes=text)
    assert settings.daily_format == "YYYY-MM-DD"
    assert settings.remarks == ()


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("Archive/Old.md", True),
        ("archive/Old.md", True),
        ("Archive 2/Old.md", False),
        ("Work/Archive/Old.md", False),
        ("Draft x.md", True),
        ("a/b.excalidraw.md", True),
        ("a/excalidraw.md", False),
        ("y2024/x.md", True),
        (".obsidian/app.json", True),
        ("a/.trash/x.md", True),
        ("a/b.md", False),
        ("Cafe\u0301/x.md", True),
        ("a.b/x.md", True),
        ("aXb/x.md", False),
    ],
)
def test_excluded_files(path, hidden):
    filters = ["Archive/", "Draft", r"/\.excalidraw\.md$/", r"/^(?<year>y\d+)\//", "Café/", "a.b/"]
    settings = read_settings(app=json.dumps({"userIgnoreFilters": filters}))
    assert ignored(path, settings) is hidden
    assert settings.remarks == ()


@pytest.mark.parametrize(
    ("written", "folder"),
    [("/", ""), ("", ""), ("Files/", "Files"), ("./", "a/b"), (".", "a/b"), ("./img", "a/b/img")],
)
def test_attachments_go_where_the_setting_says(written, folder):
    settings = read_settings(app=json.dumps({"attachmentFolderPath": written}))
    assert attachment_folder("a/b/Note.md", settings) == folder


def test_an_attachment_never_takes_a_name_that_is_there():
    settings = Settings(attachment_path="./img")
    names = Names(["a/img/plan.png", "a/img/PLAN 1.png", "img/plan.png", "a/img/README"])
    assert attachment_path("plan.png", "a/Note.md", names, settings) == "a/img/plan 2.png"
    assert attachment_path("new.png", "a/Note.md", names, settings) == "a/img/new.png"
    assert attachment_path("README", "a/Note.md", names, settings) == "a/img/README 1"


def test_attachments_beside_a_note_at_the_root():
    assert attachment_folder("Note.md", Settings(attachment_path="./img")) == "img"


@pytest.mark.parametrize(
    ("location", "folder"), [("root", ""), ("current", "a/b"), ("folder", "Inbox")]
)
def test_new_notes_go_where_the_setting_says(location, folder):
    text = json.dumps({"newFileLocation": location, "newFileFolderPath": "Inbox"})
    assert new_note_folder("a/b/Note.md", read_settings(app=text)) == folder
