import re

page = web.fetch(url="https://example.com/about")
cells = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
header, *rows = cells
table = [dict(zip((name.lower() for name in header), row)) for row in rows]
for row in table:
    row["people"] = int(row["people"])
people = sum(row["people"] for row in table)
claimed = int(re.search(r"(\d+) people", page).group(1))
text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).strip()
years = [int(m[0]) for m in re.finditer(r"\b(?:19|20)\d{2}\b", page)]
print(text)
{"table": table, "sum": people, "agrees": people == claimed, "years": years}
