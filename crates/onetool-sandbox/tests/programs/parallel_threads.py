from concurrent.futures import ThreadPoolExecutor, as_completed

urls = ["https://example.com/", "https://example.com/about", "https://example.com/gone"]
with ThreadPoolExecutor(max_workers=3) as pool:
    sizes = list(pool.map(lambda n: slow.echo(value=n * n, ms=3), range(6)))
    futures = {pool.submit(web.fetch, url=url): url for url in urls}
    results = {}
    for future in as_completed(futures):
        url = futures[future]
        try:
            results[url] = len(future.result())
        except Exception as error:
            results[url] = f"{type(error).__name__}: {error}"
for url in urls:
    print(url, "->", results[url])
sizes
