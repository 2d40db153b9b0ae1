from __future__ import annotations

import pytest

from tools.constraints import find_problems

ASKING = """[build-system]
requires = ["hatchling>=1.27"]
[project]
name = "semel"
dependencies = ["SQLAlchemy[asyncio]>=2.1,<2.2"]
[project.optional-dependencies]
django = ["django>=5.2"]
old = ["tomli>=2; python_version < '3.11'"]
dev = ["semel[django]"]
"""
DJANGO = "django==5.2 ; python_full_version < '3.12'\ndjango==6.1 ; python_full_version >= '3.12'\n"
PINNING = f"hatchling==1.33\n{DJANGO}sqlalchemy==2.1.8\n"


def say(build, **changes: str) -> list[str]:
    """Build a project that is pinned well but for the changes, and answer what is wrong with it."""
    files = {"pyproject.toml": ASKING, "constraints.txt": PINNING} | changes
    return [str(problem) for problem in find_problems(build(files))]


def test_good_pins_are_left_alone(build) -> None:
    """Extras of our own, spellings, markers and requirements for other Pythons are understood."""
    assert say(build) == []


@pytest.mark.parametrize(
    ("pins", "complaint"),
    [
        (
            PINNING.replace("hatchling==1.33\n", ""),
            "the build asks for hatchling>=1.27, which constraints.txt does not pin;",
        ),
        (
            PINNING.replace("2.1.8", "2.2.0"),
            "the core asks for SQLAlchemy[asyncio]<2.2,>=2.1, but constraints.txt pins 2.2.0",
        ),
        (PINNING.replace("5.2 ", "4.2 "), "the extra django asks for django>=5.2, but constraints.txt pins 4.2"),
        (
            PINNING.replace(DJANGO, "django==5.2 ; python_full_version < '3.12'\n"),
            "which constraints.txt does not pin for Python 3.12",
        ),
        (
            PINNING.replace(DJANGO, "django==5.2 ; sys_platform == 'linux'\n"),
            "which constraints.txt does not pin for Python 3.11 on darwin",
        ),
        ("", "the core asks for SQLAlchemy"),
    ],
)
def test_a_missing_or_wrong_pin_is_reported(build, pins: str, complaint: str) -> None:
    """What is asked for and not pinned in range, on some Python or system, is named with its place."""
    assert any(complaint in problem for problem in say(build, **{"constraints.txt": pins}))


@pytest.mark.parametrize(
    "line", ["-e .", "django>=5", "django @ http://example.com/d.whl", "x==1 ; python_is == 3", "x==one"]
)
def test_only_pins_are_constraints(build, line: str) -> None:
    """Anything but a version of a name is refused."""
    assert any(f"`{line}` is not a pin" in problem for problem in say(build, **{"constraints.txt": PINNING + line}))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("constraints.txt", PINNING + "--index-url x\n"),
        ("constraints.txt", PINNING + "--extra-index-url x\n"),
        ("constraints.txt", PINNING + "--find-links x\n"),
        ("constraints.txt", PINNING + "# from https://example.com\n"),
        ("examples/shop/requirements-dev.txt", "-i somewhere\n"),
        ("src/semel/console/package-lock.json", '{"resolved": "https://example.com/a.tgz"}'),
        ("poetry.lock", 'url = "https://example.com"\n'),
        ("pylock.toml", 'url = "https://example.com"\n'),
    ],
)
def test_an_address_is_reported(build, path: str, text: str) -> None:
    """No file of pins says where packages come from."""
    assert any(problem.startswith(path) and "begins an address" in problem for problem in say(build, **{path: text}))


def test_addresses_elsewhere_are_left_alone(build) -> None:
    """Prose and settings may name an address."""
    assert say(build, **{"README.md": "https://example.com", "example.lock": "semel==1\n"}) == []


def test_a_lock_of_uv_is_refused(build) -> None:
    """A uv.lock is refused even without an address in it."""
    assert any(problem.startswith("examples/uv.lock: ") for problem in say(build, **{"examples/uv.lock": ""}))


@pytest.mark.parametrize("asked", ["django @ https://example.com/d.whl", "django ???"])
def test_a_requirement_without_a_version_is_reported(build, asked: str) -> None:
    """A requirement at an address, or one that cannot be read, is named."""
    problems = say(build, **{"pyproject.toml": ASKING.replace("django>=5.2", asked)})
    assert len(problems) == 1
    assert "the extra django asks for django" in problems[0]
