import textwrap

tickets = db.query("tickets")
order = {"high": 0, "medium": 1, "low": 2}
tickets.sort(key=lambda t: (order[t["priority"]], t["id"]))
columns = [("id", 4, ">"), ("priority", 9, "<"), ("title", 22, "<"), ("labels", 14, "<")]
print(" ".join(f"{name.upper():{align}{width}}" for name, width, align in columns))
print("=" * 52)
for ticket in tickets:
    row = ticket | {"title": textwrap.shorten(ticket["title"], 22, placeholder="…"), "labels": ",".join(ticket["labels"])}
    print(" ".join(f"{row[name]:{align}{width}}" for name, width, align in columns).rstrip())
print(f"{len(tickets):=^52}")
print("%-10s|%5.1f%%|%+d|%x|%e" % ("share", 100 * sum(t["closed"] is None for t in tickets) / len(tickets), 5, 255, 12345.678))
print("{0:,} {1:_} {2:08.3f} {3:b} {4!r:>8} {5:^7}|".format(1234567, 7654321, 3.14159, 10, "q", "mid"))
print(textwrap.dedent("""
    dear team,
      all good
""").strip())
