from functools import cache, lru_cache, partial, reduce, singledispatch

calls = []


@lru_cache(maxsize=4)
def product(sku):
    calls.append(sku)
    return shop.product(sku=sku)


@cache
def ways(amount, coins=(50, 20, 10, 5)):
    if amount == 0:
        return 1
    return sum(ways(amount - coin, coins[i:]) for i, coin in enumerate(coins) if coin <= amount)


@singledispatch
def show(value):
    return f"<{value}>"


@show.register
def _(value: list):
    return ", ".join(map(show, value))


@show.register(dict)
def _(value):
    return "{" + ", ".join(f"{k}: {show(v)}" for k, v in value.items()) + "}"


for order in shop.orders(per_page=8)["items"]:
    for line in order["lines"]:
        product(line["sku"])
by_tax = list(map(partial(round, ndigits=1), [1.25, 2.675]))
print(show([1, {"a": "b"}, 2.5]), product.cache_info().maxsize)
{"calls": len(calls), "hits": product.cache_info().hits, "ways": ways(200), "tax": by_tax, "deep": reduce(lambda d, k: d[k], ["a", 0], {"a": ["x"]})}
