# A little of what every program does: a child runs this before it has its own.
rows = [{"size": size, "text": f"{size}"} for size in range(2)]
rows
