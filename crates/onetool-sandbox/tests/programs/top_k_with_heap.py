import bisect
import heapq

metrics = db.query("metrics")
slowest = heapq.nlargest(3, metrics, key=lambda row: row["ms"])
heap = []
for row in metrics:
    heapq.heappush(heap, (row["ms"], row["ts"], row["host"]))
fastest = [heapq.heappop(heap)[0] for _ in range(3)]
merged = list(heapq.merge([1, 4, 9], [2, 3, 10], [5]))
limits, names = [25, 50, 100], ["fast", "fine", "slow", "awful"]
grades = [names[bisect.bisect(limits, row["ms"])] for row in metrics]
ordered = []
for value in (5, 1, 4):
    bisect.insort(ordered, value)
{"slowest": [(row["host"], row["ms"]) for row in slowest], "fastest": fastest, "merged": merged, "grades": {n: grades.count(n) for n in names}, "ordered": ordered}
