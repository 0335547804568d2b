import re
from dataclasses import dataclass, fields


class ValidationError(ValueError):
    def __init__(self, problems):
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Contact:
    name: str
    email: str
    since: str

    @classmethod
    def parse(cls, row):
        problems = [f"{f.name} is missing" for f in fields(cls) if not row.get(f.name)]
        if row.get("email") and not re.fullmatch(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", row["email"]):
            problems.append(f"bad e-mail {row['email']!r}")
        if problems:
            raise ValidationError(problems)
        return cls(**{f.name: row[f.name] for f in fields(cls)})


rows = [shop.customer(id=n) for n in (1, 2, 5)] + [{"name": "X", "email": "x@y"}, {"email": "", "since": "2020"}]
good, bad = [], []
for number, row in enumerate(rows):
    try:
        good.append(Contact.parse(row))
    except ValidationError as error:
        error.add_note(f"row {number}")
        bad.append([error.problems, error.__notes__])
try:
    good[0].name = "other"
except Exception as error:
    frozen = type(error).__name__
print(good[0])
{"good": good, "bad": bad, "frozen": frozen, "hash": hash(good[0]) == hash(Contact.parse(rows[0]))}
