import asyncio


async def fetch(semaphore, url):
    async with semaphore:
        try:
            text = await web.fetch(url=url)
            return url, len(text)
        except ToolError as error:
            return url, str(error)


async def main():
    semaphore = asyncio.Semaphore(2)
    urls = [f"https://example.com/{name}" for name in ("", "about", "nowhere", "rates.csv", "feed.xml")]
    return dict(await asyncio.gather(*(fetch(semaphore, url) for url in urls)))


asyncio.run(main())
