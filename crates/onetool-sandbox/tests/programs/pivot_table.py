orders = shop.orders(per_page=100)["items"]
statuses = sorted({order["status"] for order in orders})
table = {}
for order in orders:
    row = table.setdefault(order["customer_id"], dict.fromkeys(statuses, 0))
    row[order["status"]] += 1

header = "customer".ljust(10) + "".join(status.rjust(10) for status in statuses) + "total".rjust(8)
print(header)
print("-" * len(header))
for customer, row in sorted(table.items()):
    print(str(customer).ljust(10) + "".join(f"{row[s]:10d}" for s in statuses) + f"{sum(row.values()):8d}")
totals = {status: sum(row[status] for row in table.values()) for status in statuses}
print("total".ljust(10) + "".join(f"{totals[s]:10d}" for s in statuses))
