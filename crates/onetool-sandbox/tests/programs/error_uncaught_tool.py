products = shop.products()
print("checked", len(products))
for sku in [products[0]["sku"], "NOPE"]:
    product = shop.product(sku=sku)
    print(product["name"])
"never reached"
