import random
import time


def with_retry(call, attempts=5, base=0.001):
    for attempt in range(1, attempts + 1):
        try:
            return call()
        except ToolError as error:
            print(f"attempt {attempt} failed: {error}")
            if attempt == attempts:
                raise
            time.sleep(base * 2 ** attempt + random.random() * base)


first = with_retry(lambda: flaky.get(key="a"))
second = with_retry(lambda: flaky.get(key="b", failures=3))
try:
    with_retry(lambda: flaky.get(key="c", failures=9), attempts=2)
    third = "worked"
except ToolError as error:
    third = f"gave up: {error}"
[first, second, third]
