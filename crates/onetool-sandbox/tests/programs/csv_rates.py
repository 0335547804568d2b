import csv
import io

text = web.fetch(url="https://example.com/rates.csv")
rows = list(csv.DictReader(io.StringIO(text)))
rates = {row["currency"]: float(row["rate"]) for row in rows}
stale = [row["currency"] for row in rows if row["updated"] < "2024-03-01"]

out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["sku", "name", "usd"], quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
writer.writeheader()
for product in shop.products("display"):
    writer.writerow({"sku": product["sku"], "name": product["name"], "usd": round(product["price"] * rates["USD"], 2)})
print(out.getvalue(), end="")
{"rates": rates, "stale": stale, "dialect": csv.Sniffer().sniff(text).delimiter}
