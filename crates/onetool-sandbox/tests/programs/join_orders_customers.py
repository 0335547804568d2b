from collections import defaultdict

orders = []
for page in range(1, 10):
    answer = shop.orders(page=page, per_page=10)
    orders += answer["items"]
    if answer["next"] is None:
        break

names, missing = {}, []
for customer_id in sorted({order["customer_id"] for order in orders}):
    try:
        names[customer_id] = shop.customer(id=customer_id)["name"]
    except ToolError as error:
        missing.append(str(error))

by_customer = defaultdict(list)
for order in orders:
    by_customer[names.get(order["customer_id"], "unknown")].append(order["id"])
for name, ids in sorted(by_customer.items()):
    print(f"{name:<14}{len(ids):>3}  {ids[:3]}")
{"customers": len(names), "missing": missing, "busiest": max(by_customer, key=lambda name: (len(by_customer[name]), name))}
