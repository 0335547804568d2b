from datetime import datetime, timedelta

tickets = db.query(table="tickets")
opened = lambda t: datetime.fromisoformat(t["opened"])
closed = [t for t in tickets if t["closed"]]
times = {t["id"]: datetime.fromisoformat(t["closed"]) - opened(t) for t in closed}

slowest = max(times, key=times.get)
within_a_day = sorted(number for number, took in times.items() if took <= timedelta(days=1))
still_open = [t["title"] for t in tickets if t["closed"] is None and "auth" in t["labels"]]
average = sum(times.values(), timedelta()) / len(times)
print(f"average {average}, slowest #{slowest} took {times[slowest]}")
{"within_a_day": within_a_day, "open_auth": still_open, "hours": {k: v.total_seconds() / 3600 for k, v in times.items()}}
