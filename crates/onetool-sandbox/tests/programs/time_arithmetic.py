import time
from datetime import datetime, timedelta, timezone

rows = db.query(table="metrics", limit=9)
stamps = [datetime.fromisoformat(row["ts"].replace("Z", "+00:00")) for row in rows]
offset = timezone(timedelta(hours=5, minutes=30), "IST")
local = [stamp.astimezone(offset).strftime("%a %d.%m. %H:%M %Z") for stamp in stamps[::4]]
started = time.perf_counter()
time.sleep(0.002)
elapsed = time.perf_counter() - started
parsed = time.strptime("2024-03-01 12:30", "%Y-%m-%d %H:%M")
print(local, time.strftime("%H:%M", parsed), time.gmtime(86399)[3:6])
{"delta": str(stamps[-1] - stamps[0]), "epoch": stamps[0].timestamp(), "slept": 0.002 <= elapsed < 5, "rounded": stamps[4].replace(minute=0).isoformat(), "day_of_year": parsed.tm_yday}
