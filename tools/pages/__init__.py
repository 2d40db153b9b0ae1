"""The makers of docs/reference: `tools/pages/NAME.py` makes `docs/reference/NAME.md`.

To add a page, add one file with one function:

    def render() -> str:
        ...

It answers the page as Markdown, beginning with its title. The same code must always give the same page: sort what has
no order, and write no date, path, address or version of the machine. `make docs` writes the page, and `make check`
compares it.

A page must render without a database, because `make docs` runs where there is none. What only a database can tell (how
many round trips a verb costs, what a server answers) is counted by a test, which keeps it as JSON in
docs/reference/data/NAME.json and fails when its own count differs from what is kept there; the page is drawn from that
file. So the numbers of a page are always ones that a test saw, and a page never connects.

A module whose name begins with an underscore is shared by pages and is none itself.
"""
