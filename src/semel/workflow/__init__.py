"""What the user declares, read and checked without a database.

Nothing is imported here, so that `semel` stays light; take each name from its file.

- `model`     the declared values: `Workflow`, `Step`, `Claim`, `CallPlan`, `Edge`
- `load`      `load(sources) -> Loaded`: JSON and TOML files, folders of them, or dicts; never raises for what they say
- `rules`     `check(loaded, registry=None) -> Report`: rules R1 to R14, all problems at once; `RULES` is their table
- `rule`      `Registry`, `CallFacts`: what the application tells the rules about its functions and providers
- `coverage`  `find_uncovered(workflows, covers)`: claims that nobody would look after
- `draw`      `draw(workflow, "svg" | "mermaid" | "text")`
- `schema`    `json_schema()`: the shape of a workflow file, for editors

At boot: `report = check(load("workflows/"), registry)`, raise `report.as_error()` unless `report.ok`, and go on with
`report.workflows`.
"""
