def check(order, prices):
    problems = []
    for line in order["lines"]:
        if line["qty"] > 3:
            problems.append(ValueError(f"{order['id']}: {line['qty']} of {line['sku']}"))
        if prices[line["sku"]] > 300:
            problems.append(PermissionError(f"{order['id']}: {line['sku']} is dear"))
    if problems:
        raise ExceptionGroup(f"order {order['id']}", problems)


prices = {p["sku"]: p["price"] for p in shop.products()}
values, refused = [], []
for order in shop.orders(per_page=24)["items"]:
    try:
        check(order, prices)
    except* ValueError as group:
        values += [str(error) for error in group.exceptions]
    except* PermissionError as group:
        refused += [str(error) for error in group.exceptions]
try:
    try:
        shop.product(sku="lost")
    except ToolError as error:
        raise LookupError("no such thing") from error
except LookupError as error:
    chain = [repr(error), repr(error.__cause__)]
{"values": values, "refused": refused, "chain": chain}
