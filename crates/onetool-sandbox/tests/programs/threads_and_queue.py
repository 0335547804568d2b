import queue
import threading

tasks, results, lock = queue.Queue(), {}, threading.Lock()
for product in shop.products():
    tasks.put(product["sku"])


def work():
    while True:
        try:
            sku = tasks.get_nowait()
        except queue.Empty:
            return
        stock = shop.product(sku=sku)["stock"]
        with lock:
            results[sku] = stock
        tasks.task_done()


threads = [threading.Thread(target=work, name=f"worker-{n}", daemon=True) for n in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(timeout=10)
local = threading.local()
local.value = 1
ready = threading.Event()
threading.Timer(0.001, ready.set).start()
ranked = queue.PriorityQueue()
for item in ((2, "b"), (1, "a")):
    ranked.put(item)
[dict(sorted(results.items())), ready.wait(5), [t.is_alive() for t in threads], ranked.get()[1], tasks.empty()]
