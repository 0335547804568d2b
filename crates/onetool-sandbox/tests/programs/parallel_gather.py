import asyncio

skus = [product["sku"] for product in shop.products(category="display")]
products = await asyncio.gather(*[shop.product(sku=sku) for sku in skus])
names = [product["name"] for product in products]
one, two = await asyncio.gather(slow.echo("one"), slow.echo(value="two", ms=1))
results = await asyncio.gather(shop.product(sku="KB-01"), shop.product(sku="nope"), return_exceptions=True)
{
    "names": names,
    "pair": [one, two],
    "mixed": [r["name"] if isinstance(r, dict) else f"{type(r).__name__}: {r}" for r in results],
}
