def rows(table):
    offset = 0
    while page := db.query(table=table, limit=10, offset=offset):
        yield from page
        offset += len(page)


def only_slow(rows, limit):
    return (row for row in rows if row["ms"] > limit)


def running_stats():
    count, total, value = 0, 0.0, None
    while True:
        value = yield (count, round(total, 1))
        if value is None:
            return "ended"
        count, total = count + 1, total + value


def collect(rows):
    stats = running_stats()
    state = next(stats)
    for row in rows:
        state = stats.send(row["ms"])
    try:
        stats.send(None)
    except StopIteration as stop:
        return state, stop.value


result = collect(only_slow(rows("metrics"), 40))
hosts = sorted({row["host"] for row in only_slow(rows("metrics"), 60)})
print(result, hosts)
list(zip(*[(row["host"], row["ok"]) for row, _ in zip(rows("metrics"), range(3))]))
