from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlparse


class Links(HTMLParser):
    def __init__(self, base):
        super().__init__()
        self.base, self.links, self.title, self._in_title = base, [], "", False

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title"
        if tag == "a" and (href := dict(attrs).get("href")):
            self.links.append(urljoin(self.base, href))

    def handle_data(self, data):
        if self._in_title:
            self.title += data

    def handle_endtag(self, tag):
        self._in_title = False


base = "https://example.com/"
parser = Links(base)
parser.feed(web.fetch(base))
parts = [urlparse(link) for link in parser.links]
print(parser.title, "|", unescape("&copy; &frac12;"))
[{"scheme": p.scheme, "host": p.netloc, "path": p.path, "query": parse_qs(p.query), "fragment": p.fragment} for p in parts]
