import asyncio


async def impatient(value, ms, limit):
    try:
        return await asyncio.wait_for(asyncio.sleep(ms / 1000, value), timeout=limit)
    except asyncio.TimeoutError:
        return f"{value}: too slow"


async def main():
    results = await asyncio.gather(impatient("a", 1, 5), impatient("b", 20000, 0.02))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError:
        results.append("timeout block")
    done, pending = await asyncio.wait([asyncio.create_task(asyncio.sleep(0.001, "fast")), asyncio.create_task(asyncio.sleep(9))],
                                       return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return results + [task.result() for task in done] + [len(pending)]


asyncio.run(main())
