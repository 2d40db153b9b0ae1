"""Pin every dependency of every extra in constraints.txt, for every Python and platform at once.

    python -m tools.constraints              pin what is missing or out of range, keep the other pins
    python -m tools.constraints --upgrade    pin everything at its newest version
    python -m tools.constraints --check      fail when a dependency is not pinned, or a pin holds an address

The check needs no network. An address is never committed: where packages come from is the business of each machine.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import PurePosixPath
from typing import Any

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.project import ROOT, Problem, Project, report

PINS = "constraints.txt"
PYTHON_FLOOR = "3.11"
COMPILE = (
    *("uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", PYTHON_FLOOR, "--all-extras"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate", "--quiet", "--output-file", PINS),
)
# Where a pin must hold: every Python we promise, on the systems people develop and run on.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"), ("win32", "Windows", "nt"))

PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(\s*;\s*(?P<marker>.+))?")
ADDRESS = re.compile(r"://|@ http|--(extra-)?index|--find-links|--trusted-host|^\s*-[if]\s", re.MULTILINE)
LOCKS = re.compile(
    r".*\.lock|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb|pylock(\..+)?\.toml"
    r"|(requirements|constraints).*\.(txt|in)"
)


@dataclass(frozen=True, slots=True)
class Pin:
    """One line of constraints.txt."""

    name: str
    version: Version
    marker: Marker | None

    def holds_in(self, environment: dict[str, str]) -> bool:
        """Answer whether the pin counts on this kind of machine."""
        return self.marker is None or self.marker.evaluate(environment)


def find_problems(project: Project) -> Iterator[Problem]:
    """Say everything that is wrong with the pins."""
    yield from find_unpinned(project)
    yield from find_addresses(project)
    yield from find_uv_locks(project)


def find_unpinned(project: Project) -> Iterator[Problem]:
    """Find what pyproject.toml asks for and constraints.txt does not pin, or pins outside the range."""
    pins: list[Pin] = []
    for number, line in enumerate(project.texts.get(PINS, "").splitlines(), start=1):
        pin = read_pin(line)
        if pin is None:
            yield Problem(
                f"{PINS}:{number}", f"`{line}` is not a pin; a pin is name==version, and a marker where needed."
            )
        else:
            pins.append(pin)
    for place, text in list_asked(project.settings):
        yield from (Problem("pyproject.toml", f"{place} {fault}") for fault in list_faults(text, pins))


def read_pin(line: str) -> Pin | None:
    """Read one line. None: it is something else than a pin."""
    found = PIN.fullmatch(line.strip())
    if found is None:
        return None
    try:
        marker = Marker(found["marker"]) if found["marker"] else None
        return Pin(canonicalize_name(found["name"]), Version(found["version"]), marker)
    except (InvalidVersion, ValueError):
        return None


def list_asked(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """List every requirement with the place that asks for it. The project's own extras ask for nothing new."""
    project = settings.get("project", {})
    groups: dict[str, list[str]] = {
        "the build": settings.get("build-system", {}).get("requires", []),
        "the core": project.get("dependencies", []),
    }
    groups |= {f"the extra {name}": asked for name, asked in project.get("optional-dependencies", {}).items()}
    own = canonicalize_name(project.get("name", ""))
    for place, asked in groups.items():
        yield from ((place, text) for text in asked if canonicalize_name(re.split(r"[\[<>=!~; ]", text)[0]) != own)


def list_faults(text: str, pins: list[Pin]) -> Iterator[str]:
    """List what is wrong with the pins of one requirement, once for all machines."""
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        yield f"asks for {text}, which cannot be read."
        return
    if asked.url:
        yield f"asks for {asked.name} at an address; name a version instead."
        return
    candidates = [pin for pin in pins if pin.name == canonicalize_name(asked.name)]
    faults = (find_fault(asked, candidates, environment) for environment in list_environments())
    yield from dict.fromkeys(fault for fault in faults if fault)


def find_fault(asked: Requirement, candidates: list[Pin], environment: dict[str, str]) -> str | None:
    """Say what is wrong with the pins of one requirement on one kind of machine. None: nothing is."""
    if asked.marker is not None and not asked.marker.evaluate({**environment, "extra": ""}):
        return None
    holding = [pin for pin in candidates if pin.holds_in(environment)]
    if not candidates:
        return f"asks for {asked}, which {PINS} does not pin; run: make constraints"
    if not holding:
        machine = f"Python {environment['python_version']} on {environment['sys_platform']}"
        return f"asks for {asked}, which {PINS} does not pin for {machine}; run: make constraints"
    for pin in holding:
        if not asked.specifier.contains(pin.version, prereleases=True):
            return f"asks for {asked}, but {PINS} pins {pin.version}; run: make constraints"
    return None


def list_environments() -> Iterator[dict[str, str]]:
    """List the kinds of machines that a pin must hold on."""
    for python, (platform, system, family) in product(PYTHONS, SYSTEMS):
        yield {
            "python_version": python,
            "python_full_version": f"{python}.5",
            "sys_platform": platform,
            "platform_system": system,
            "os_name": family,
            "platform_machine": "x86_64",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }


def find_addresses(project: Project) -> Iterator[Problem]:
    """Find files with pins that say where a package comes from."""
    for path, text in project.texts.items():
        # The first one is enough: a file that holds one address holds one for each package.
        found = ADDRESS.search(text) if LOCKS.fullmatch(PurePosixPath(path).name) else None
        if found:
            line = text.count("\n", 0, found.start()) + 1
            yield Problem(f"{path}:{line}", f"`{found[0].strip()}` begins an address; take every one out.")


def find_uv_locks(project: Project) -> Iterator[Problem]:
    """Find lock files of uv, which record an address for each package."""
    for path in project.files:
        if PurePosixPath(path).name == "uv.lock":
            yield Problem(path, f"a uv.lock records addresses; delete it, {PINS} holds the pins.")


def pin(arguments: Iterable[str]) -> int:
    """Write constraints.txt again, and answer the exit status. What uv complains about is shown without addresses."""
    command = [sys.executable, "-m", *COMPILE, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(re.sub(r"[a-z+]+://\S*", "(address)", done.stderr), file=sys.stderr)
    return done.returncode


def main(arguments: list[str]) -> int:
    """Pin or check. Answer 1 when something is not pinned as it should be."""
    if "--check" not in arguments and pin(arguments):
        return 1
    return report(
        find_problems(Project.at()), f"{PINS} pins everything that pyproject.toml asks for, and holds no address."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
