from itertools import combinations, compress, count, cycle, dropwhile, islice, product, repeat, starmap, tee, zip_longest


def batched(rows, size):
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


created = []
for batch in batched(shop.products(), 4):
    created.append(notes.add(title=f"batch of {len(batch)}", text=", ".join(p["sku"] for p in batch))["id"])
first, second = tee(p["stock"] for p in shop.products())
flags = [stock > 5 for stock in first]
in_stock = list(compress([p["sku"] for p in shop.products()], flags))
assigned = dict(zip(in_stock, cycle(["Ann", "Bo"])))
grid = ["".join(pair) for pair in product("ab", repeat=2)]
print(notes.all())
{
    "created": created, "assigned": assigned, "grid": grid, "pairs": list(combinations([1, 2, 3], 2)), "after": list(dropwhile(lambda s: s < 100, second)),
    "padded": list(zip_longest("ab", [1], fillvalue="-")), "powers": list(starmap(pow, zip(repeat(2, 4), count()))),
}
