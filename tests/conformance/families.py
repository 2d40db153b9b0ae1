"""Marks for tests that concern some databases only."""

from __future__ import annotations

import pytest

on_postgres = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
on_mariadb = pytest.mark.parametrize("database", ["mariadb"], indirect=True)
on_servers = pytest.mark.parametrize("database", ["postgresql", "mariadb"], indirect=True)
on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
