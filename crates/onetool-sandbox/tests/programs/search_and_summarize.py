from collections import ChainMap, OrderedDict

topics = ["rust", "python", "async", "cobol"]
found = OrderedDict()
for topic in topics:
    for hit in web.search(query=topic, count=5):
        entry = found.setdefault(hit["url"], {"title": hit["title"], "topics": []})
        entry["topics"].append(topic)

defaults = {"limit": 3, "min_topics": 1}
options = ChainMap({"min_topics": 2}, defaults)
several = [entry["title"] for entry in found.values() if len(entry["topics"]) >= options["min_topics"]]
found.move_to_end(next(iter(found)))
note = notes.add(title="research", text="; ".join(several))
print(*(f"{i}. {entry['title']} [{', '.join(entry['topics'])}]" for i, entry in enumerate(found.values(), 1)), sep="\n")
{"several": several, "note": note, "limit": options["limit"], "last": list(found)[-1], "nothing": [t for t in topics if not web.search(t)]}
