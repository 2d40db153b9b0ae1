"""Ask each service that the tests were promised whether it answers.

    python -m tools.services PostgreSQL SEMEL_TEST_POSTGRES_URL MariaDB SEMEL_TEST_MARIADB_URL

A name and the environment variable with its URL, as often as needed. What does not answer is named, and fails the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from tools.project import Problem, report

# A service on this machine or next to it answers in milliseconds; five seconds forgive one that just starts.
ANSWER_SECONDS = 5
DRIVERS = {"postgresql": "postgresql+psycopg", "mariadb": "mariadb+pymysql"}


def find_problems(pairs: list[tuple[str, str]]) -> Iterator[Problem]:
    """Ask every service; say which does not answer and why."""
    for name, variable in pairs:
        try:
            print(f"{name} answers: {ask_version(make_url(read_url(variable)))}")
        except (LookupError, sa.exc.SQLAlchemyError) as error:
            reason = str(getattr(error, "orig", None) or (error.args or [error])[0])
            yield Problem(name, f"it does not answer at ${variable}: {' '.join(reason.split())}")


def read_url(variable: str) -> str:
    """Read the URL of a service from the environment."""
    url = os.environ.get(variable, "")
    if not url:
        raise LookupError("the variable is not set")
    return url


def ask_version(url: URL) -> str:
    """Ask a database for its version."""
    family = url.get_backend_name()
    if family not in DRIVERS:
        raise LookupError(f"tools/services.py does not know how to ask {family}")
    engine = sa.create_engine(
        url.set(drivername=DRIVERS[family]),
        poolclass=sa.pool.NullPool,
        connect_args={"connect_timeout": ANSWER_SECONDS},
    )
    with engine.connect() as connection:
        return str(connection.exec_driver_sql("SELECT version()").scalar())


def main(arguments: list[str]) -> int:
    """Ask every service named. Answer 1 when one does not answer, 2 when the arguments are not pairs."""
    if not arguments or len(arguments) % 2:
        print("Name each service and its variable: NAME VARIABLE [NAME VARIABLE …]", file=sys.stderr)
        return 2
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True))
    return report(find_problems(pairs), "Every service answers.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
