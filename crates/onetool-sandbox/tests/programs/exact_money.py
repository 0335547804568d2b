from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

cent = Decimal("0.01")
lines = [(Decimal(str(p["price"])), p["stock"]) for p in shop.products() if p["stock"]]
net = sum(price * stock for price, stock in lines)
vat = (net * Decimal("0.19")).quantize(cent, ROUND_HALF_UP)
with localcontext() as context:
    context.prec = 6
    third = Decimal(1) / Decimal(3)
shares = [Fraction(stock, sum(s for _, s in lines)) for _, stock in lines]
print(f"net {net:,.2f}  vat {vat:,}  gross {net + vat:,.2f}")
{"third": str(third), "half_even": str(Decimal("2.665").quantize(cent, ROUND_HALF_EVEN)), "shares": [str(s) for s in shares[:3]], "one": sum(shares) == 1, "float": 0.1 + 0.2}
