import operator
from functools import total_ordering


@total_ordering
class Money:
    __slots__ = ("cents", "currency")

    def __init__(self, amount, currency="EUR"):
        self.cents, self.currency = round(amount * 100), currency

    def __eq__(self, other):
        return (self.cents, self.currency) == (other.cents, other.currency)

    def __lt__(self, other):
        if self.currency != other.currency:
            raise TypeError(f"cannot compare {self.currency} with {other.currency}")
        return self.cents < other.cents

    def __add__(self, other):
        return Money((self.cents + getattr(other, "cents", 0)) / 100, self.currency)

    __radd__ = __add__

    def __mul__(self, factor):
        return Money(self.cents * factor / 100, self.currency)

    def __hash__(self):
        return hash(self.cents)

    def __repr__(self):
        return f"{self.cents / 100:.2f} {self.currency}"

    def __format__(self, spec):
        return format(repr(self), spec)


prices = [Money(p["price"]) for p in shop.products()]
try:
    sorted([Money(1), Money(2, "USD")])
except TypeError as error:
    problem = str(error)
print(f"{max(prices):>12}|{sum(prices):<14}|{min(prices) * 3}")
{"sorted": [repr(p) for p in sorted(prices, reverse=True)[:2]], "problem": problem, "unique": len(set(prices)), "get": operator.itemgetter("name", "stock")(shop.product("DK-10")), "le": Money(1) <= Money(1)}
