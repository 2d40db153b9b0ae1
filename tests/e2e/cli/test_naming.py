from __future__ import annotations

import pytest
from click.testing import CliRunner

from semel.cli import main
from tests.databases import Database
from tests.e2e.cli.conftest import Run, Shell

APP = """
from semel import AsyncSemel, Semel
print("this module prints")
once = {kind}("{url}", prefix="shop_")
not_once = 1
class Box:
    once = once
"""


def write_app(shell: Shell, database: Database, kind: str = "Semel") -> None:
    """Write a module with an app."""
    shell.write("shop/__init__.py", "")
    shell.write("shop/app.py", APP.format(kind=kind, url=database.url))


def assert_found(run: Run) -> None:
    """The app was found, with its own prefix, and what its module printed is not in the answer."""
    assert run.status == 0, run.err
    assert run.json["versions"] == {"core": 1}
    assert "shop_" in run.json["applied"][0]["statements"][0]
    assert "this module prints" in run.err


@pytest.mark.parametrize("kind", ["Semel", "AsyncSemel"])
def test_an_app_is_named_by_module_and_attribute(shell: Shell, database: Database, kind: str) -> None:
    """--app finds a Semel or an AsyncSemel, whose own driver and prefix are used."""
    write_app(shell, database, kind)
    assert_found(shell.run("schema", "apply", "--app", "shop.app:once", "--json"))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_environment_names_the_app(shell: Shell, database: Database) -> None:
    """SEMEL_APP is as good as --app, also for an attribute of an attribute."""
    write_app(shell, database)
    assert_found(shell.run("schema", "apply", "--json", env={"SEMEL_APP": "shop.app:Box.once"}))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_project_names_the_app(shell: Shell, database: Database) -> None:
    """[tool.semel] app of the nearest pyproject.toml is found from any folder below it."""
    write_app(shell, database)
    shell.write("pyproject.toml", '[tool.semel]\napp = "shop.app:once"\n')
    shell.write("deep/down/file", "")
    shell.folder = shell.folder / "deep" / "down"
    assert_found(shell.run("schema", "apply", "--json"))


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_command_line_beats_the_environment(shell: Shell, database: Database) -> None:
    """--db is taken although SEMEL_APP names something else, which is not even imported."""
    run = shell.run("schema", "apply", "--db", database.url, env={"SEMEL_APP": "nothing:there"})
    assert run.status == 0, run.err


def test_no_database_is_misuse_and_says_how_to_name_one(shell: Shell) -> None:
    """Nothing was named: the code, what happened, and the four ways to do it, on standard error."""
    run = shell.run("schema", "check")
    assert run.status == 2
    assert run.out == ""
    assert run.err == (
        "SEMEL-CLI-1: No database was named.\n"
        "  Pass --db URL, or --app module:name, or set SEMEL_APP, or [tool.semel] app in pyproject.toml.\n"
    )


def test_with_json_an_error_is_a_document_too(shell: Shell) -> None:
    """A program reads the three parts on standard output; the sentence for people is still on standard error."""
    run = shell.run("doctor", "--json")
    assert run.status == 2
    assert run.json["error"]["code"] == "SEMEL-CLI-1"
    assert run.err.startswith("SEMEL-CLI-1: ")


BROKEN_APPS = {
    "shop": "a module, a colon and a name are needed",
    "nowhere:once": "No module named 'nowhere'",
    "shop.app:twice": "no attribute 'twice'",
    "shop.app:not_once": "it is of type int",
    "shop.broken:once": "ZeroDivisionError: division by zero",
    "shop.quits:once": "SystemExit: 3",
    "shop.wrong:once": "SEMEL-DB-1",
}


@pytest.mark.parametrize("app", BROKEN_APPS)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_app_that_cannot_be_loaded_is_told_without_a_traceback(shell: Shell, database: Database, app: str) -> None:
    """What is wrong with the user's app is one sentence, with the file and line where it happened."""
    write_app(shell, database)
    shell.write("shop/broken.py", "\n\nonce = 1 / 0\n")
    shell.write("shop/quits.py", "raise SystemExit(3)\n")
    shell.write("shop/wrong.py", "from semel import Semel\nonce = Semel('oracle://x')\n")
    run = shell.run("doctor", "--app", app)
    assert run.status == 2
    assert BROKEN_APPS[app] in run.err
    assert "Traceback" not in run.err
    assert ("broken.py, line 3" in run.err) == (app == "shop.broken:once")


PROJECTS = {
    "[tool.semel\n": "cannot be read",
    "[tool.semel]\napp = 3\n": "is not text",
    "[tool.semel]\n": "SEMEL-CLI-1",
}


@pytest.mark.parametrize("text", PROJECTS)
def test_a_project_file_that_names_no_app_is_told(shell: Shell, text: str) -> None:
    """A broken pyproject.toml, a wrong value, or none."""
    shell.write("pyproject.toml", text)
    run = shell.run("schema", "check")
    assert run.status == 2
    assert PROJECTS[text] in run.err


MISUSES = {
    "--db sqlite:///x.db --app shop:once": "--db and --app",
    "--app shop:once --prefix x_": "--prefix and --schema go with --db",
    "--db sqlite:///x.db --schema shop": "SQLite has no schemas",
    "--db sqlite:///x.db --prefix Shop-": "plain SQL name",
    "--db oracle://x": "is not a database Semel knows",
    "--db sqlite://shop.db": "three slashes",
    "--db sqlite:///:memory:": "in memory",
    "--db postgresql+pg8000://h/d": "psycopg",
    "--db nonsense": "not a database URL",
    "--no-such-option": "No such option",
}


@pytest.mark.parametrize("words", MISUSES)
def test_misuse_ends_with_status_two_and_makes_no_file(shell: Shell, words: str) -> None:
    """Each way to name a database wrongly is one sentence; nothing is opened or made."""
    run = shell.run("schema", "apply", *words.split())
    assert run.status == 2, run
    assert MISUSES[words] in " ".join(run.err.split())
    assert "Traceback" not in run.err
    assert list(shell.folder.iterdir()) == []


SECRET = "v3ryS3cret"
SECRET_URLS = [
    f"postgresql://me:{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:pa@{SECRET}@127.0.0.1:1/shop",
    f"postgresql://127.0.0.1:1/shop?user=me&password={SECRET}",
    f"postgresql+asyncpg://me:{SECRET}@127.0.0.1:1/shop",
    f"mariadb://me:{SECRET}@127.0.0.1:1/shop",
    f"mariadb+asyncmy://me:{SECRET}@127.0.0.1:1/shop",
    f"postgresql://me:{SECRET}@127.0.0.1:port/shop",
    f"oracle://me:{SECRET}@127.0.0.1/shop",
    f"oracle://127.0.0.1/shop?password={SECRET}",
]


@pytest.mark.parametrize("url", SECRET_URLS)
@pytest.mark.parametrize("command", ["schema apply", "schema check", "doctor", "doctor --json", "schema print --json"])
def test_a_password_is_never_printed(url: str, command: str) -> None:
    """Whatever goes wrong with a URL, its password reaches neither standard output nor standard error."""
    result = CliRunner().invoke(main, [*command.split(), "--db", url])
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert SECRET not in result.stdout + result.stderr
    assert result.exit_code != 0 or command.startswith("schema print")


def test_a_password_in_an_apps_own_error_is_not_printed(shell: Shell) -> None:
    """An exception of the user's module is quoted without the password in it."""
    shell.write("shop.py", f"raise OSError('cannot reach postgresql://me:{SECRET}@db/shop')\n")
    run = shell.run("doctor", "--app", "shop:once")
    assert "cannot reach postgresql://me:***@db/shop" in run.err
    assert SECRET not in run.err
