import re
import string
from collections import Counter

text = " ".join(t["title"] for t in db.query("tickets")) + " " + web.fetch("https://example.com/readme.md")
words = re.findall(r"[A-Za-z]+", text)
counts = Counter(word.lower() for word in words if len(word) > 2)
letters = Counter(c for c in text.lower() if c in string.ascii_lowercase)
table = str.maketrans({"a": "4", "e": "3", "o": None})
longest = sorted(set(words), key=lambda w: (-len(w), w))[:3]
vowels = sum(letters[c] for c in "aeiou") / sum(letters.values())
print(text[:40].translate(table).title().center(50, "*"))
print("|".join(text.split()[:5]), text.count("\n"), text.isascii(), text[:5].swapcase(), "x".zfill(3), "a-b_c".partition("-"))
counts.subtract(["the", "tool"])
{"top": counts.most_common(4), "letters": letters.most_common(3), "longest": longest, "vowels": f"{vowels:.3f}", "casefold": "Straße".casefold() == "STRASSE".casefold(), "enc": "né€".encode("utf-8").hex(" ")}
