import asyncio


async def stock(sku):
    return (await shop.product(sku=sku))["stock"]


async def failing(delay):
    await asyncio.sleep(delay)
    raise ValueError(f"no luck after {delay}")


async with asyncio.TaskGroup() as group:
    tasks = {sku: group.create_task(stock(sku)) for sku in ("KB-01", "CB-05", "ST-01")}
counts = {sku: task.result() for sku, task in tasks.items()}

try:
    async with asyncio.TaskGroup() as group:
        group.create_task(failing(0.001))
        never = group.create_task(asyncio.sleep(30))
except* ValueError as errors:
    caught = [str(error) for error in errors.exceptions]
{"counts": counts, "caught": caught, "cancelled": never.cancelled()}
