def average(rows, key):
    values = [row[key] for row in rows]
    return sum(values) / len(values)


print(average(shop.products(), "stock"))
average(shop.products(category="toys"), "stock")
