import math
import statistics as st

rows = db.query("metrics", limit=36)
by_host = {}
for row in rows:
    by_host.setdefault(row["host"], []).append(row["ms"])


def percentile(values, share):
    values = sorted(values)
    return values[max(0, math.ceil(share / 100 * len(values)) - 1)]


summary = {
    host: {
        "n": len(values), "mean": round(st.mean(values), 2), "median": st.median(values), "p90": percentile(values, 90),
        "stdev": round(st.stdev(values), 3), "quartiles": [round(q, 2) for q in st.quantiles(values, n=4)],
    }
    for host, values in sorted(by_host.items())
}
errors = sum(not row["ok"] for row in rows)
summary["error_rate"] = f"{errors / len(rows):.1%}"
summary
