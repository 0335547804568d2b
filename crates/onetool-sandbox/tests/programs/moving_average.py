from collections import deque
from itertools import accumulate, pairwise

values = [row["ms"] for row in db.query(table="metrics", limit=15)]


def moving_average(values, size):
    window = deque(maxlen=size)
    for value in values:
        window.append(value)
        if len(window) == size:
            yield round(sum(window) / size, 3)


trend = ["up" if b > a else "down" if b < a else "flat" for a, b in pairwise(moving_average(values, 5))]
running = [round(total, 1) for total in accumulate(values)]
print(" ".join(trend))
{"averages": list(moving_average(values, 5)), "running": running[-3:], "max_so_far": list(accumulate(values, max))[::4]}
