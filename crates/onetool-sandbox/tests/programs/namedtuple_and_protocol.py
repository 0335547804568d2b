from typing import NamedTuple, Optional, Protocol, TypedDict


class Point(NamedTuple):
    name: str
    boss: Optional[str] = None
    salary: int = 0


class Payable(Protocol):
    salary: int


class Summary(TypedDict):
    team: str
    cost: int


def cost(people: list[Payable]) -> int:
    return sum(person.salary for person in people)


rows = db.query("staff")
people = [Point(row["name"], boss=row["boss"], salary=row["salary"]) for row in rows]
summaries: list[Summary] = []
for team in dict.fromkeys(row["team"] for row in rows):
    members = [p for p, row in zip(people, rows) if row["team"] == team]
    summaries.append(Summary(team=team, cost=cost(members)))
print(people[1], people[1]._replace(salary=1)._asdict())
{"summaries": summaries, "fields": Point._fields, "top": max(people, key=lambda p: p.salary).name}
