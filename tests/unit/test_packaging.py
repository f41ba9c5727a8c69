"""What is installed is what is in the repository."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from eris.llama_build import wheels

ROOT = Path(__file__).parents[2]
PACKAGES = ("proto", "eris", "actors")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_the_lock_names_no_address_and_hashes_everything():
    assert "://" not in LOCK
    pinned = re.findall(r"^[a-z0-9._-]+==", LOCK, re.MULTILINE)
    assert LOCK.count("# via") == len(pinned)
    for block in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block


def wanted() -> list[str]:
    requirements = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
    names = [re.match(r"[A-Za-z0-9._-]+", requirement)[0] for requirement in requirements]
    return sorted({re.sub(r"[-_.]+", "-", name).lower() for name in names} - {wheels.PACKAGE})


@pytest.mark.parametrize("name", wanted())
def test_the_lock_pins_each_dependency(name):
    assert re.search(rf"^{re.escape(name)}==", LOCK, re.MULTILINE), "run: make lock"


def test_the_pinned_llama_is_the_one_that_is_asked_for():
    assert f"{wheels.PACKAGE}=={wheels.VERSION}" in PROJECT["project"]["dependencies"]
    assert f"{wheels.PACKAGE}==" not in LOCK


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel, built from a copy so that the build leaves nothing here."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "supervisor.toml"):
        shutil.copy(ROOT / name, copy / name)
    for package in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, copy / package, symlinks=True, ignore=ignored)
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", copy)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, copy],
        check=True,
        timeout=120,
        capture_output=True,
    )
    return next(copy.glob("eris_agent-*.whl"))


def test_the_wheel_carries_every_file_of_the_packages(wheel):
    carried = set(zipfile.ZipFile(wheel).namelist())
    files = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= carried
    assert any(name.endswith("licenses/LICENSE") for name in carried)


def test_the_wheel_finds_its_own_files(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "from eris.models import catalogue\n"
        "from eris.supervisor.specification import PACKAGED_FILE\n"
        "print(PACKAGED_FILE, len(catalogue()))\n"
        "print(PACKAGED_FILE.read_text(encoding='utf-8'))\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    ).stdout
    first, _, rest = said.partition("\n")
    assert first.startswith(str(tmp_path))
    assert rest.strip() == (ROOT / "supervisor.toml").read_text(encoding="utf-8").strip()


def test_make_knows_its_targets():
    targets = ("run", "test", "check", "bench", "chaos", "docs", "clean", "install", "models")
    for target in targets:
        subprocess.run(
            ["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True, timeout=60
        )
