from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tools.project import Project

Build: TypeAlias = Callable[[dict[str, str]], Project]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Write files into an empty folder, and answer it as a project."""

    def build(files: dict[str, str]) -> Project:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
        return Project.at(tmp_path)

    return build
