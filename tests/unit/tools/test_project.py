from __future__ import annotations

import ast
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.databases import refuse_or_skip
from tools.project import Project, Source, report


def parse(path: str, text: str) -> Source:
    """Make a source of a text."""
    return Source(path, text, ast.parse(text))


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("import time\ntime.sleep", "time.sleep"),
        ("import time as t\nt.sleep", "time.sleep"),
        ("from time import sleep\nsleep", "time.sleep"),
        ("from time import sleep as nap\nnap", "time.sleep"),
        ("import os.path\nos.path.join", "os.path.join"),
        ("import os.path as p\np.join", "os.path.join"),
        ("def f():\n    import time\n    time.sleep", "time.sleep"),
        ("eval", "eval"),
    ],
)
def test_a_mention_is_spelled_in_full(text: str, full: str) -> None:
    """However a name was imported, it is known by the name it was born with."""
    assert full in [name for name, _ in parse("src/semel/a.py", text).mentions]


def test_a_call_result_is_not_a_mention() -> None:
    """An attribute of a value is not mistaken for a module's."""
    assert "sleep" not in {name.rpartition(".")[2] for name, _ in parse("src/a.py", "f().sleep").mentions}


@pytest.mark.parametrize(
    ("path", "text", "full"),
    [
        ("src/semel/store/tables.py", "from . import dialects", "semel.store.dialects"),
        ("src/semel/store/tables.py", "from .dialects import x", "semel.store.dialects.x"),
        ("src/semel/store/__init__.py", "from .dialects import x", "semel.store.dialects.x"),
        ("src/semel/store/tables.py", "from ..errors import error", "semel.errors.error"),
    ],
)
def test_a_relative_import_is_resolved(path: str, text: str, full: str) -> None:
    """Dots count from the package that the file is in."""
    assert [found for _, found, _ in parse(path, text).imports] == [full]


def test_git_decides_what_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracked and new files are looked at, ignored and deleted ones are not, whatever repository a hook names."""
    if shutil.which("git") is None:
        refuse_or_skip("install git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("kept.py", "new.py", "ignored.py", "deleted.py"):
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    for command in (("init", "-q"), ("add", "kept.py", "deleted.py", ".gitignore")):
        subprocess.run(("git", *command), cwd=tmp_path, check=True)
    (tmp_path / "deleted.py").unlink()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert Project.at(tmp_path).files == (".gitignore", "kept.py", "new.py")


def test_without_git_everything_but_leftovers_is_ours(tmp_path: Path) -> None:
    """An unpacked archive is checked too, without what installing and running leave behind."""
    for path in ("src/a.py", ".venv/b.py", "src/__pycache__/c.py", ".ruff_cache/d.py", ".ci/run"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    assert Project.at(tmp_path).files == (".ci/run", "src/a.py")


def test_bytes_are_not_read_as_text(tmp_path: Path) -> None:
    """A picture is listed, and no rule reads it."""
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\xff")
    project = Project.at(tmp_path)
    assert (project.files, project.texts) == (("logo.png",), {})


def test_every_problem_is_printed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A run shows all there is to mend, and says so by its status."""
    assert report(["one", "two"], "fine") == 1
    assert capsys.readouterr().err == "one\ntwo\n"
    assert report([], "fine") == 0
    assert capsys.readouterr().out == "fine\n"
