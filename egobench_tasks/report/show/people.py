"""People's part of a report."""

from egobench_tasks.report.analyse.people import choice_people_table, open_people_table
from egobench_tasks.report.read.people import ChoicePeople, OpenPeople
from egobench_tasks.report.show.document import Document
from egobench_tasks.report.show.section import Section


def people_document(choice: ChoicePeople | None, opened: OpenPeople | None) -> Document:
    """Lay out people beside models, each on the questions that every person was asked."""
    tables = [*([choice_people_table(choice)] if choice else []), *([open_people_table(opened)] if opened else [])]
    people = [one for one in (choice, opened) if one is not None]
    participants = sorted({person.participant for one in people for person in one.persons.values()})
    shown = tuple(one for one in tables if not one.rows.empty)
    return Document(
        title="People report",
        subtitle=f"{len(participants)} {'person' if len(participants) == 1 else 'people'}",
        notices=tuple(notice for one in people for notice in one.notices),
        sections=(Section("people", "People", "", shown, ()),) if shown else (),
        data={},
    )
