import os.path
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urlencode, urlsplit, urlunsplit

urls = [hit["url"] for hit in web.search(query="rust", count=10)]
paths = [PurePosixPath(urlsplit(url).path) for url in urls]
files = [Path("out") / path.relative_to("/").with_suffix(".html") for path in paths]
query = urlencode({"q": "c++ & co", "page": 2, "tag": ["a", "b"]}, doseq=True)
link = urlunsplit(("https", "example.com", quote("/a b/ü"), query, ""))
print([str(f) for f in files], os.path.splitext("archive.tar.gz"), os.path.join("a", "b", "..", "c"))
{"link": link, "back": unquote("/a%20b/%C3%BC"), "parents": [str(p) for p in PurePosixPath("/x/y/z.txt").parents], "stem": files[0].stem,
 "common": os.path.commonpath(["/a/b/c", "/a/b/d"]), "match": PurePosixPath("src/run/tool.rs").match("*.rs")}
