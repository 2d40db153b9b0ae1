# What there is to do here. GNU make 3.81 is enough, paths may hold spaces, and nothing but Python 3.11 is needed.
# Every program is run through the environment's own python, so it does not matter what else is installed.

PYTHON := .venv/bin/python
# Two processes: the databases that the tests share are busy with two already.
TEST_PROCESSES ?= 2
# What pytest is asked for: make test ARGS="tests/unit -k claim"
ARGS ?=

SOURCES_OF_VENV := pyproject.toml constraints.txt tools/venv.sh

# A .venv that was moved or whose Python is gone loses its stamps, and is made again by the target that needs it.
$(shell sh tools/venv.sh look)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test check house docs bench constraints clean

help:
	@echo "make demo         run the media store's demo (installs only what it needs)"
	@echo "make test         run every test (ARGS=... goes to pytest)"
	@echo "make check        lint, format, types, layers, generated pages, pins, house rules"
	@echo "make house        the structural part of check: layers, drawing, house rules"
	@echo "make docs         write the generated pages and the drawing again"
	@echo "make bench        measure"
	@echo "make constraints  pin every dependency again"
	@echo "make clean        remove .venv, caches and what was built"

.venv/.stamp-demo: $(SOURCES_OF_VENV)
	@sh tools/venv.sh serve
	@touch .venv/.stamp-demo

.venv/.stamp-dev: $(SOURCES_OF_VENV)
	@sh tools/venv.sh dev
	@touch .venv/.stamp-demo .venv/.stamp-dev

demo: .venv/.stamp-demo
	$(PYTHON) -m media_store demo

test: .venv/.stamp-dev
	$(PYTHON) -m pytest -n $(TEST_PROCESSES) --dist loadgroup $(ARGS)

check: .venv/.stamp-dev house
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	if [ -d tests/typing ]; then $(PYTHON) -m basedpyright --pythonpath $(PYTHON); fi
	$(PYTHON) -m tools.docs --check
	$(PYTHON) -m tools.constraints --check

house: .venv/.stamp-dev
	.venv/bin/lint-imports --no-cache
	$(PYTHON) -m tools.drawing --check
	$(PYTHON) -m tools.house

docs: .venv/.stamp-dev
	$(PYTHON) -m tools.drawing
	$(PYTHON) -m tools.docs

bench: .venv/.stamp-dev
	$(PYTHON) -m bench

constraints: .venv/.stamp-dev
	$(PYTHON) -m tools.constraints

clean:
	rm -rf .venv build dist .demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	find src tests tools examples bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
