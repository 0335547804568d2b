import math
from fractions import Fraction

orders = shop.orders(per_page=6)["items"]
prices = {p["sku"]: round(p["price"] * 100) for p in shop.products()}
weights = {o["id"]: sum(prices[l["sku"]] * l["qty"] for l in o["lines"]) for o in orders}
shipping = 1999
exact = {key: Fraction(shipping * weight, sum(weights.values())) for key, weight in weights.items()}
cents = {key: math.floor(value) for key, value in exact.items()}
# The largest remainders get the cents that are left.
left = shipping - sum(cents.values())
for key in sorted(exact, key=lambda key: (exact[key] - cents[key], -key), reverse=True)[:left]:
    cents[key] += 1
assert sum(cents.values()) == shipping
print({key: f"{value / 100:.2f}" for key, value in cents.items()})
[left, math.isqrt(shipping), math.gcd(*weights.values()), math.comb(len(orders), 2)]
