"""What boot decides before it asks the database: modules, files, rules, colours and cover; all of it, or no start."""

from __future__ import annotations

from importlib import import_module

from semel.app.setup import Setup
from semel.errors import error
from semel.workflow.coverage import Cover, as_error, find_uncovered
from semel.workflow.model import Workflow


def read_workflows(setup: Setup) -> tuple[Workflow, ...]:
    """Answer the workflows of this application, or refuse to start with everything that is wrong."""
    for module in setup.settings.modules:
        import_module(module)
    wrong = setup.registry.wrong_colours()
    if wrong:
        raise error("SEMEL-APP-6", wrong="; ".join(wrong))
    if not setup.settings.workflows:
        return ()
    from semel.workflow.load import load  # pydantic is imported only where there are files
    from semel.workflow.rules import check

    report = check(load(setup.settings.workflows), setup.registry)
    if not report.ok:
        raise report.as_error()
    uncovered = find_uncovered(report.workflows, [Cover(module) for module in sorted(setup.registry.janitors)])
    if uncovered:
        raise as_error(uncovered)
    return report.workflows
