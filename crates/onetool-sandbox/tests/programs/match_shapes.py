def describe(event):
    match event:
        case {"type": "order", "lines": [{"sku": sku}]}:
            return f"one line: {sku}"
        case {"type": "order", "lines": [first, *rest]}:
            return f"{1 + len(rest)} lines from {first['sku']}"
        case {"type": "ticket", "priority": "high" | "urgent" as level, "closed": None}:
            return f"open and {level}"
        case {"type": "ticket", "title": str(title)} if "bug" in title.lower() or len(title) > 20:
            return f"long title: {title[:10]}…"
        case {"type": kind, **rest}:
            return f"{kind} with {len(rest)} fields"
        case [int() | float() as x, y]:
            return f"pair {x + y}"
        case None | "":
            return "nothing"
        case _:
            return f"unknown {event!r}"


events = [{"type": "order", **order} for order in shop.orders(per_page=4)["items"]]
events += [{"type": "ticket", **ticket} for ticket in db.query("tickets")]
events += [(1, 2.5), None, "", {"other": 1}, 7]
for event in events:
    print(describe(event))
