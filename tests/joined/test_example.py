"""The guide to `on=` shows a file that runs, and what it printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tools.project import ROOT

EXAMPLE = "examples/joining.py"
PRINTED = re.compile(rf"<!-- printed: {re.escape(EXAMPLE)} -->\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_guide_shows_what_its_example_prints(tmp_path: Path) -> None:
    """Every kind of handle in it joins, a warning would end it, and the page has its words, letter by letter."""
    command = [sys.executable, "-W", "error", str(ROOT / EXAMPLE)]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    shown = PRINTED.findall((ROOT / "docs/guides/on.md").read_text(encoding="utf-8"))
    assert shown == [done.stdout]
