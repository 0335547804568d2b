for product in shop.products():
    if product["stock"] == 0:
        print("out of stock:", product["sku"])
        if product["category"] == "audio":
            return {"first": product["sku"], "name": product["name"]}
return "everything is there"
