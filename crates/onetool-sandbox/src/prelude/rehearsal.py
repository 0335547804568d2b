# A small typical program, which a child runs before it gets its own.
rows = [{"size": size, "text": f"{size}"} for size in range(2)]
rows
