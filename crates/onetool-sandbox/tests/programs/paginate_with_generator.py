from typing import Iterator


def all_orders(per_page: int = 5, **filters) -> Iterator[dict]:
    page = 1
    while True:
        answer = shop.orders(page=page, per_page=per_page, **filters)
        yield from answer["items"]
        if not (page := answer["next"]):
            return


ids = [order["id"] for order in all_orders(status="open")]
first = next(order for order in all_orders() if len(order["lines"]) == 3)
print(*ids, sep=", ")
{"open": ids, "first_with_three_lines": first["id"], "longest": max(all_orders(), key=lambda o: sum(l["qty"] for l in o["lines"]))["id"]}
