"""The doctor: each check finds what it's for, changes nothing, and says what to do."""

import fcntl
import json

import pytest

from eris.cli.doctor import examine
from eris.cli.doctor_checks import CHECKS, Complaint, Severity, Subject
from eris.cli.init import make_vault
from eris.cli.main import run

SLOW = {"llama", "models"}


@pytest.fixture
def environ(tmp_path):
    return {
        "HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "ERIS_RUNTIME_DIR": str(tmp_path / "run"),
    }


@pytest.fixture
def subject(tmp_path, environ):
    make_vault(tmp_path / "notes", "", environ)
    subject = Subject(environ, {}, tmp_path / "notes")
    subject.paths.create()
    return subject


def findings(subject, check, **options):
    return examine(subject, (check,), **options).findings


def test_a_healthy_vault_has_no_findings(subject):
    checks = tuple(name for name in CHECKS if name not in SLOW)
    examination = examine(subject, checks)
    assert examination.ok
    assert [finding.severity for finding in examination.findings] == [Severity.INFO]


def broken_settings(subject, _tmp_path):
    (subject.vault / ".eris" / "config.toml").write_text("[model]\nthreads = -1\n")


def unknown_setting(subject, _tmp_path):
    (subject.vault / ".eris" / "config.toml").write_text("[model]\nchait = 1\n")


def broken_supervisor(_subject, tmp_path):
    (tmp_path / "config" / "eris").mkdir(parents=True)
    (tmp_path / "config" / "eris" / "supervisor.toml").write_text("[actor.bus]\nstop_s = -1\n")


def unknown_supervisor_key(_subject, tmp_path):
    (tmp_path / "config" / "eris").mkdir(parents=True)
    (tmp_path / "config" / "eris" / "supervisor.toml").write_text("[actor.bus]\nstopp_s = 1\n")


def open_state(subject, _tmp_path):
    subject.paths.state.chmod(0o755)


def open_runtime(subject, _tmp_path):
    subject.paths.runtime.chmod(0o770)


def stale_socket(subject, _tmp_path):
    (subject.paths.runtime / "bus.sock").touch()


def no_id(subject, _tmp_path):
    (subject.vault / ".eris" / "id").unlink()


def damaged_model(_subject, tmp_path):
    folder = tmp_path / "data" / "eris" / "models" / "qwen2.5-coder-0.5b"
    folder.mkdir(parents=True)
    (folder / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf").write_bytes(b"GGUF")


def shut_skills(subject, _tmp_path):
    (subject.vault / ".eris" / "config.toml").write_text('[vault]\nread_only = ["eris/skills"]\n')


def nothing(_subject, _tmp_path):
    pass


FAULTS = [
    (broken_settings, "config", Severity.ERROR, "line 2: model.threads", "default"),
    (unknown_setting, "config", Severity.WARNING, "model.chait", "model.chat"),
    (broken_supervisor, "supervisor", Severity.ERROR, "stop_s", ""),
    (unknown_supervisor_key, "supervisor", Severity.WARNING, "stopp_s", "supervision.md"),
    (open_state, "state", Severity.WARNING, "0755", "chmod 700"),
    (open_runtime, "runtime", Severity.WARNING, "0770", "chmod 700"),
    (stale_socket, "sockets", Severity.WARNING, "bus.sock", "--fix"),
    (no_id, "vault", Severity.WARNING, "isn't a vault yet", "eris init"),
    (shut_skills, "vault", Severity.WARNING, "Eris/Skills (vault.skills)", "vault.read_only"),
    (nothing, "models", Severity.ERROR, "isn't on this machine", "eris models pull"),
    (damaged_model, "models", Severity.ERROR, "qwen2.5-coder-0.5b", "eris models"),
]


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: f"{case[1]}-{case[0].__name__}")
def test_a_fault_is_found_with_a_way_to_fix_it(subject, tmp_path, case):
    prepare, check, severity, words, hint = case
    prepare(subject, tmp_path)
    finding = findings(Subject(subject.environ, {}, subject.vault), check)[0]
    assert (finding.check_id, finding.severity) == (check, severity)
    assert words in finding.message
    assert hint in finding.fix_hint


@pytest.mark.parametrize(
    ("prepare", "check"),
    [(open_state, "state"), (open_runtime, "runtime"), (stale_socket, "sockets")],
)
def test_fix_repairs_what_can_be_repaired_without_harm(subject, tmp_path, prepare, check):
    prepare(subject, tmp_path)
    assert findings(subject, check)
    assert len(examine(subject, (check,), fix=True).fixed) == 1
    assert not findings(subject, check)


def test_processes_without_a_supervisor_are_found_by_their_locks(subject):
    lock = subject.paths.lock("inference")
    with lock.open("w") as file:
        file.write("4242\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        (finding,) = findings(subject, "sockets")
    assert "inference (pid 4242)" in finding.message
    assert "eris up" in finding.fix_hint


def test_a_named_folder_that_is_no_vault_is_not_changed(tmp_path, environ):
    (tmp_path / "plain").mkdir()
    checks = tuple(name for name in CHECKS if name not in SLOW)
    assert not examine(Subject(environ, {}, tmp_path / "plain"), checks).ok
    assert list((tmp_path / "plain").iterdir()) == []


def test_a_path_of_sockets_that_is_too_long_is_found(subject, tmp_path):
    environ = subject.environ | {"ERIS_RUNTIME_DIR": str(tmp_path / ("x" * 100))}
    (finding,) = findings(Subject(environ, {}, subject.vault), "runtime")
    assert "too long" in finding.message


def test_little_space_is_found(subject, monkeypatch):
    def full(_place):
        return type("Usage", (), {"free": 1024**2})

    monkeypatch.setattr("shutil.disk_usage", full)
    assert {finding.severity for finding in findings(subject, "disk")} == {Severity.ERROR}


def test_a_check_that_breaks_is_told_and_the_others_go_on(subject, monkeypatch):
    def breaks(_subject):
        yield Complaint(Severity.INFO, "so far so good", "nothing")
        raise PermissionError("nope")

    monkeypatch.setitem(CHECKS, "python", breaks)
    examination = examine(subject, ("python", "vault"))
    assert examination.broken == ("python",)
    assert "nope" in examination.findings[-1].message
    assert examination.checks == ("python", "vault")


def test_with_json_each_finding_has_the_agreed_fields(subject, monkeypatch, capsys):
    for key, value in subject.environ.items():
        monkeypatch.setenv(key, value)
    unknown_setting(subject, None)
    code = run(["doctor", "--vault", str(subject.vault), "--only", "config", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert code == 1
    (finding,) = document["findings"]
    assert set(finding) == {"checkId", "severity", "message", "path", "fixHint"}


def test_an_unknown_check_is_a_usage_error(capsys):
    assert run(["doctor", "--only", "nonsense"]) == 2
    assert "config" in capsys.readouterr().err
