"""A story as a file that runs it again, until it is no longer true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from semel.testing.prove.budgets import Budgets
from semel.testing.prove.cast import Cast
from semel.testing.prove.life import drawing_ids
from semel.testing.prove.loading import find_scenarios
from semel.testing.prove.minimise import follow
from semel.testing.prove.proving import Proof, name_event
from semel.testing.prove.search import Search
from semel.testing.prove.story import Story, Teller

Schedule: TypeAlias = Sequence[tuple[str, str, int]]

FILE = '''"""{sentence}

Run this file to see whether it still is so: it tells the story again and ends with 1, or says that it is not so any more.
"""

from semel.testing.prove.replaying import tell_again

SCHEDULE = [
{events}
]

if __name__ == "__main__":
    raise SystemExit(tell_again({place!r}, {budgets!r}, SCHEDULE))
'''


def write_story_file(place: str | None, proof: Proof) -> str:
    """Write the file."""
    story = proof.story
    assert story is not None, "only a violation has a story"
    path = (place or "").partition(":")[0]
    sentence = f"{story.scenario}: {story.invariant} does not hold: {story.words}."
    events = "\n".join(f"    {event!r}," for event in proof.schedule)
    return FILE.format(sentence=sentence, events=events, place=f"{path}:{story.scenario}", budgets=proof.budgets.left)


def tell_again(place: str, budgets: tuple[int, int, int, int], schedule: Schedule) -> int:
    """Go through a story again; answer the exit status."""
    story = replay(place, Budgets(*budgets), schedule)
    print(story.text() if story is not None else "It is not so any more.")  # noqa: T201 - a story file is a program
    return 1 if story is not None else 0


def replay(place: str, budgets: Budgets, schedule: Schedule) -> Story | None:
    """Go through a story again; None, if it does not end in a violation any more."""
    (kind,) = find_scenarios(place)
    with drawing_ids():
        cast = Cast(kind())
        search = Search(cast, budgets)
        try:
            wanted = list(schedule)
            violation = follow(search, wanted, lambda label, event: name_event(cast, label) == tuple(event))
            if violation is None:
                return None
            return Teller(cast).tell(violation.invariant, violation.words, violation.path, violation.aftermath)
        finally:
            cast.end()
