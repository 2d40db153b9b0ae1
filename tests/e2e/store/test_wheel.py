from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools.project import ROOT

STORE = ROOT / "examples" / "media_store"
# The store as somebody meets it who has the wheel and no clone: under its other name, and no other one to fall back on.
RUN = """
import runpy, sys
sys.modules["media_store"] = None
import semel
assert semel.__file__.startswith(sys.argv[1]), semel.__file__
sys.argv = ["demo", *sys.argv[2:]]
runpy.run_module("semel.demo.media_store", run_name="__main__")
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this project as pip would lay it down, built from a copy without any network."""
    copy, there = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for folder in ("src", "examples"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True, timeout=60)
    (wheel,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(there)
    return there


def run_from(unpacked: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the store that is in the wheel."""
    command = [sys.executable, "-c", RUN, str(unpacked), *arguments]
    env = {**os.environ, "PYTHONPATH": str(unpacked)}
    return subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=60)


def test_the_wheel_holds_the_store(unpacked: Path, tmp_path: Path) -> None:
    """The demo and the server's help run from the unpacked wheel alone."""
    done = run_from(unpacked, tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "Semel once" in done.stdout or "by luck" in done.stdout
    assert "--lease-seconds" in run_from(unpacked, tmp_path, "serve", "--help").stdout


def test_the_wheel_holds_what_the_package_needs(unpacked: Path) -> None:
    """Every file of the package is in the wheel, the SQL and the type marker too, and nothing of the tests is."""
    folder = ROOT / "src" / "semel"
    ours = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    packed = {path.relative_to(unpacked / "semel") for path in (unpacked / "semel").rglob("*") if path.is_file()}
    assert ours <= packed
    assert {path.parts[0] for path in packed - ours} == {"demo"}
    assert {path.name.partition("-")[0] for path in unpacked.iterdir()} == {"semel"}


@pytest.mark.parametrize("path", sorted(STORE.glob("*.py")), ids=lambda path: path.name)
def test_the_store_uses_public_names_only(path: Path) -> None:
    """The store imports from `semel` itself and from its own files by relative name, so it is what a user could write."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not [each.name for each in node.names if each.name.split(".")[0] in ("semel", "media_store")]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            home, _, inner = str(node.module).partition(".")
            assert home != "media_store"
            assert home != "semel" or not inner or inner.startswith(("integrations", "providers", "testing"))
