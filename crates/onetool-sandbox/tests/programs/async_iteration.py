import asyncio
from contextlib import asynccontextmanager


class Pages:
    def __init__(self, per_page):
        self.page, self.per_page = 1, per_page

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self.page is None:
            raise StopAsyncIteration
        answer = await shop.orders(page=self.page, per_page=self.per_page)
        self.page = answer["next"]
        return [order["id"] for order in answer["items"]]


@asynccontextmanager
async def logged(name):
    print("enter", name)
    try:
        yield name.upper()
    finally:
        print("leave", name)


async with logged("orders") as title:
    pages = [page async for page in Pages(9)]
sizes = {f"{title} {number}": len(page) for number, page in enumerate(pages, 1)}
sizes
