import json
from datetime import date, datetime


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, (date, datetime)):
            return value.isoformat()
        if isinstance(value, set):
            return sorted(value)
        return super().default(value)


data = {"when": date(2024, 3, 1), "labels": {label for t in db.query("tickets") for label in t["labels"]}, "name": "Émile ☃", "none": None}
print(json.dumps(data, cls=Encoder, ensure_ascii=False))
print(json.dumps({"b": [1, 2.0, 1e100], "a": {"x": True}}, indent=2, sort_keys=True))
lines = "\n".join(json.dumps(row) for row in db.query("staff", limit=2))
back = [json.loads(line) for line in lines.splitlines()]
try:
    json.loads('{"a": 1 "b"}')
except json.JSONDecodeError as error:
    problem = (error.lineno, error.colno)
try:
    json.dumps({"x": object})
except TypeError as error:
    refused = str(error)[:26]
{"back": back, "line": problem, "refused": refused, "floats": json.loads("[1e3, -0.5, 12345678901234567890]"), "hook": json.loads('{"a": {"b": 1}}', object_hook=lambda d: list(d.items()))}
