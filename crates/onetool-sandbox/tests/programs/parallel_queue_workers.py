import asyncio


async def worker(name, queue, out):
    while True:
        sku = await queue.get()
        product = await shop.product(sku=sku)
        out[sku] = product["stock"]
        queue.task_done()


async def main():
    queue, out = asyncio.Queue(), {}
    for product in shop.products():
        queue.put_nowait(product["sku"])
    workers = [asyncio.create_task(worker(f"w{n}", queue, out)) for n in range(3)]
    await queue.join()
    for task in workers:
        task.cancel()
    ended = await asyncio.gather(*workers, return_exceptions=True)
    return {"stock": dict(sorted(out.items())), "cancelled": sum(isinstance(e, asyncio.CancelledError) for e in ended)}


await main()
