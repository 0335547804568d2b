from dataclasses import asdict, dataclass, field
from enum import Enum


class Tier(str, Enum):
    GOLD = "gold"
    SILVER = "silver"
    BRONZE = "bronze"

    @property
    def discount(self):
        return {"gold": 0.1, "silver": 0.05}.get(self.value, 0)


@dataclass(order=True)
class Customer:
    sort_key: tuple = field(init=False, repr=False)
    name: str
    tier: Tier
    orders: list[int] = field(default_factory=list)

    def __post_init__(self):
        self.sort_key = (-self.tier.discount, self.name)


rows = [shop.customer(id=number) for number in range(1, 7)]
customers = sorted(Customer(row["name"], Tier(row["tier"])) for row in rows)
print(customers[0])
[{k: v for k, v in asdict(c).items() if k != "sort_key"} for c in customers[:3]]
