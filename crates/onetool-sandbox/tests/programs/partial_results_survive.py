results, errors = [], []
for sku in ["KB-01", "XX-99", "DK-10", "", "ST-01"]:
    try:
        product = shop.product(sku=sku)
        results.append({"sku": sku, "value": product["price"] * product["stock"]})
    except ToolError as error:
        errors.append({"sku": sku, "error": str(error)})
    except Exception as error:
        errors.append({"sku": sku, "unexpected": repr(error)})
print(f"{len(results)} of {len(results) + len(errors)} worked")
{"results": results, "errors": errors}
