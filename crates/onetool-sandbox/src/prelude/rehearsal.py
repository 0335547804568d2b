# What most programs do, in a few lines: a child runs this before it has its own.
import json
import re


def pick(rows, key="name", *, limit=3):
    found = [{**row, "text": f"{row[key]}: {row['size']:,}"} for row in rows if row.get("size", 0) > 1]
    return sorted(found, key=lambda row: -row["size"])[:limit]


try:
    rows = json.loads('[{"name": "a", "size": 1}, {"name": "b", "size": 2.5}]')
    words = re.findall(r"\w+", " ".join(str(row) for row in rows))
    raise KeyError(len(words))
except KeyError as error:
    count = error.args[0] + 1
(pick(rows), count)
