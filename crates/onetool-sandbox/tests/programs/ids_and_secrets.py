import secrets
import uuid
from random import Random

orders = shop.orders(per_page=3)["items"]
ids = [str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://example.com/orders/{order['id']}")) for order in orders]
token = secrets.token_urlsafe(16)
random = Random(2024)
sample = random.sample([p["sku"] for p in shop.products()], k=4)
dice = [random.randint(1, 6) for _ in range(10)]
weighted = random.choices(["a", "b", "c"], weights=[5, 3, 1], k=6)
random.shuffle(sample)
parsed = uuid.UUID(ids[0])
{"ids": ids, "version": parsed.version, "token": 20 < len(token) < 24, "unique": len({uuid.uuid4() for _ in range(20)}), "dice": dice,
 "sample": sample, "weighted": weighted, "gauss": round(random.gauss(10, 2), 6), "below": 0 <= secrets.randbelow(5) < 5}
