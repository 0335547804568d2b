# Walk every page and total what was paid.
page, orders = 1, []
while page is not None:
    answer = shop.orders(page=page, per_page=7)
    orders.extend(answer["items"])
    print(f"page {answer['page']}/{answer['pages']}: {len(answer['items'])} orders")
    page = answer["next"]

prices = {product["sku"]: product["price"] for product in shop.products()}
paid = [order for order in orders if order["status"] == "paid"]
total = sum(prices[line["sku"]] * line["qty"] for order in paid for line in order["lines"])
{"orders": len(orders), "paid": len(paid), "total": round(total, 2)}
