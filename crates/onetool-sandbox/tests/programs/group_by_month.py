from datetime import date
from itertools import groupby
from operator import itemgetter

orders = shop.orders(per_page=50)["items"]
rows = sorted(((date.fromisoformat(o["date"]), o["status"], o["id"]) for o in orders), key=itemgetter(0, 2))
months = {}
for month, group in groupby(rows, key=lambda row: row[0].strftime("%B %Y")):
    group = list(group)
    months[month] = {"count": len(group), "first": group[0][0], "last": group[-1][0].isoformat(), "statuses": sorted({s for _, s, _ in group})}
gaps = [(b[0] - a[0]).days for a, b in zip(rows, rows[1:])]
print("longest gap:", max(gaps), "days")
months
