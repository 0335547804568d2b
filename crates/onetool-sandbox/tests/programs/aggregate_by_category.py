from collections import Counter, defaultdict
from itertools import chain

answers = [shop.orders(page=page, per_page=12) for page in (1, 2)]
lines = list(chain.from_iterable(order["lines"] for answer in answers for order in answer["items"]))
catalog = {product["sku"]: product for product in shop.products()}

quantity, revenue = Counter(), defaultdict(float)
for line in lines:
    product = catalog[line["sku"]]
    quantity[product["category"]] += line["qty"]
    revenue[product["category"]] += line["qty"] * product["price"]

report = [{"category": name, "quantity": count, "revenue": round(revenue[name], 2)} for name, count in quantity.most_common()]
width = max(len(row["category"]) for row in report)
for row in report:
    print(f"{row['category']:>{width}} | {'#' * row['quantity']}")
report
