"""Wheels with any content, in a folder that pip takes instead of a registry."""

import base64
import hashlib
import zipfile
from pathlib import Path


def write_wheel(folder: Path, package: str, version: str, members: dict[str, bytes]) -> Path:
    """Write a wheel that pip accepts."""
    name = package.replace("-", "_")
    information = f"{name}-{version}.dist-info"
    files = {
        **members,
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {package}\n"
        f"Version: {version}\n".encode(),
        f"{information}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        b"Tag: py3-none-any\n",
    }
    rows = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    files[f"{information}/RECORD"] = "\n".join([*rows, f"{information}/RECORD,,", ""]).encode()
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
