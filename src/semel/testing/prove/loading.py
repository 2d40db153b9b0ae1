"""Finding scenarios: those in a file of the user's, or the shipped ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from semel.errors import error
from semel.testing.prove.scenario import Scenario
from semel.testing.prove.shipped import SCENARIOS


def find_scenarios(place: str | None) -> tuple[type[Scenario], ...]:
    """Answer the scenarios of `PATH` or `PATH:Scenario`; the shipped ones, if no place is named."""
    if place is None:
        return SCENARIOS
    path, _, wanted = place.partition(":")
    if not path:
        found = SCENARIOS
    else:
        module = import_file(Path(path))
        found = tuple(
            each
            for each in vars(module).values()
            if isinstance(each, type) and issubclass(each, Scenario) and each.__module__ == module.__name__
        )
    chosen = tuple(each for each in found if not wanted or wanted in (each.__name__, each().name))
    if not chosen:
        known = ", ".join(each.__name__ for each in found) or "none"
        raise error("SEMEL-PROVE-1", place=place, known=known)
    return chosen


def import_file(path: Path) -> ModuleType:
    """Import a file of scenarios."""
    spec = importlib.util.spec_from_file_location(path.stem, path) if path.suffix == ".py" else None
    if spec is None or spec.loader is None or not path.is_file():
        raise error("SEMEL-PROVE-1", place=str(path), known="none, because it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
