def schema(value):
    if isinstance(value, dict):
        return {key: schema(item) for key, item in value.items()}
    if isinstance(value, list):
        kinds = [schema(item) for item in value]
        unique = []
        for kind in kinds:
            if kind not in unique:
                unique.append(kind)
        return unique
    return type(value).__name__


def walk(value, path="$"):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from walk(item, f"{path}[{index}]")
    else:
        yield path, value


result = shop.orders(per_page=2, page=3)
flat = dict(walk(result))
print(schema(result))
print(schema(db.query("tickets", limit=3)))
{"paths": list(flat)[:6], "last": flat["$.next"], "deepest": max(flat, key=lambda p: p.count(".") + p.count("["))}
