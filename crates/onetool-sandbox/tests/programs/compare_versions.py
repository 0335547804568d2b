import json

old, new = (json.loads(web.fetch(f"https://example.com/v{n}.json")) if isinstance(web.fetch(f"https://example.com/v{n}.json"), str)
            else web.fetch(f"https://example.com/v{n}.json") for n in (1, 2))


def version(text):
    return tuple(int(part) for part in text.split("."))


def diff(a, b, path=""):
    for key in sorted(a.keys() | b.keys()):
        where = f"{path}.{key}" if path else key
        if key not in b:
            yield f"- {where} = {json.dumps(a[key])}"
        elif key not in a:
            yield f"+ {where} = {json.dumps(b[key])}"
        elif isinstance(a[key], dict) and isinstance(b[key], dict):
            yield from diff(a[key], b[key], where)
        elif a[key] != b[key]:
            yield f"~ {where}: {a[key]!r} -> {b[key]!r}"


changes = list(diff(old, new))
print("\n".join(changes))
{"newer": version(new["version"]) > version(old["version"]), "as_text": new["version"] > old["version"], "changes": len(changes)}
