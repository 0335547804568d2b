import re
from collections import Counter
from datetime import datetime
from ipaddress import ip_address, ip_network

LINE = re.compile(r'^(?P<ip>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<method>\w+) (?P<path>\S+) [^"]*" (?P<status>\d{3}) (?P<size>\d+)$')
hits, skipped = [], 0
for line in web.fetch(url="https://example.com/access.log").splitlines():
    if match := LINE.match(line):
        hit = match.groupdict()
        hits.append(hit | {"status": int(hit["status"]), "size": int(hit["size"]), "time": datetime.strptime(hit["time"], "%d/%b/%Y:%H:%M:%S %z")})
    else:
        skipped += 1
ten = ip_network("10.0.0.0/8")
failed = Counter(hit["ip"] for hit in hits if hit["status"] == 401)
print(f"{len(hits)} hits, {skipped} skipped, {sum(h['size'] for h in hits):,} bytes")
{
    "statuses": Counter(f"{hit['status'] // 100}xx" for hit in hits),
    "outside": [h["ip"] for h in hits if ip_address(h["ip"]) not in ten],
    "suspicious": [ip for ip, count in failed.items() if count > 1],
    "span": (hits[-1]["time"] - hits[0]["time"]).seconds,
}
