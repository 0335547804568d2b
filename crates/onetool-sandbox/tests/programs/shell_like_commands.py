import argparse
import shlex

parser = argparse.ArgumentParser(prog="stock", exit_on_error=False)
parser.add_argument("category")
parser.add_argument("-n", "--limit", type=int, default=2)
parser.add_argument("--all", action="store_true")

answers = []
for line in ["display -n 1", "'audio' --all", 'cable --limit=5', "input -n many"]:
    try:
        options = parser.parse_args(shlex.split(line))
    except argparse.ArgumentError as error:
        answers.append(str(error))
        continue
    found = [p["sku"] for p in shop.products(category=options.category) if options.all or p["stock"]]
    answers.append(found[:options.limit])
print(shlex.join(["echo", "a b", "it's"]))
answers
