import asyncio


async def source(name, delay):
    value = await slow.echo(value=name, ms=delay)
    return value


async def main():
    order = []
    for finished in asyncio.as_completed([source("slow", 60), source("quick", 1)]):
        order.append(await finished)
    event = asyncio.Event()

    async def waiter():
        await event.wait()
        return "released"

    task = asyncio.create_task(waiter())
    await asyncio.sleep(0)
    event.set()
    return order, await task, task.done()


await main()
