import re
import textwrap

text = web.fetch("https://example.com/readme.md")
sections, current = {}, None
for line in text.splitlines():
    if match := re.match(r"(#+)\s+(.*)", line):
        current = sections.setdefault(match[2], {"level": len(match[1]), "lines": []})
    elif current is not None and line.strip():
        current["lines"].append(line)

code = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)
links = dict(re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text))
toc = "\n".join(f"{'  ' * (section['level'] - 1)}- {title}" for title, section in sections.items())
print(toc)
print(textwrap.indent(textwrap.fill("The quick brown fox jumps over the lazy dog and runs away from it.", width=30), "> "))
{"code": code, "links": links, "sizes": {title: len(section["lines"]) for title, section in sections.items()}}
