import difflib
import fnmatch
import unicodedata

names = [shop.customer(id=number)["name"] for number in range(1, 9)]


def plain(text):
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()


queries = ["emile rou", "Jorge Diaz", "kruger", "Nora Hadad", "zzz"]
matches = {query: difflib.get_close_matches(plain(query), [plain(n) for n in names], n=1, cutoff=0.5) for query in queries}
ratio = round(difflib.SequenceMatcher(None, "monitor 24", "monitor 32").ratio(), 4)
diff = list(difflib.unified_diff(["a", "b", "c"], ["a", "B", "c", "d"], "old", "new", lineterm="", n=1))
print("\n".join(diff))
{"matches": matches, "ratio": ratio, "glob": fnmatch.filter([p["sku"] for p in shop.products()], "M?-*"), "category": unicodedata.category("é"), "name": unicodedata.name("ß")}
