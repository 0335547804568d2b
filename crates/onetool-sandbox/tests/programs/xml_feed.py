import xml.etree.ElementTree as ET
from email.utils import parsedate_to_datetime

root = ET.fromstring(web.fetch("https://example.com/feed.xml"))
items = []
for item in root.iter("item"):
    published = parsedate_to_datetime(item.findtext("pubDate"))
    items.append({"title": item.findtext("title"), "published": published.isoformat(), "category": item.find("category").text})
items.sort(key=lambda item: item["published"])

feed = ET.Element("feed", {"count": str(len(items))})
for item in items:
    entry = ET.SubElement(feed, "entry", category=item["category"])
    entry.text = item["title"]
print(ET.tostring(feed, encoding="unicode"))
{"version": root.get("version"), "channel": root.find("./channel/title").text, "items": items}
