"""A module that forgot to say who looks after its claims does not start."""

from pathlib import Path

from semel import ConfigError, Semel

once = Semel("sqlite:///billing.db", workflows=Path(__file__).with_name("workflows"))
once.validator("HasInvoices")(lambda _step: None)
once.action("CloseBilling")(lambda _step: None)

try:
    once.boot()
except ConfigError as problem:
    print(problem)
