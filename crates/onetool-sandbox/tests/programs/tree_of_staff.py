rows = db.query(table="staff")
children = {}
for row in rows:
    children.setdefault(row["boss"], []).append(row)


def render(boss=None, depth=0):
    for row in sorted(children.get(boss, []), key=lambda r: r["name"]):
        yield "  " * depth + f"{row['name']} ({row['team']})"
        yield from render(row["name"], depth + 1)


def total(row):
    return row["salary"] + sum(total(child) for child in children.get(row["name"], []))


print("\n".join(render()))
{row["name"]: total(row) for row in rows if row["name"] in children}
