import bz2
import gzip
import io
import struct
import zipfile
import zlib
from array import array

text = web.fetch("https://example.com/access.log").encode() * 20
sizes = {"plain": len(text), "round": all(unpack(pack(text)) == text for pack, unpack in ((zlib.compress, zlib.decompress), (gzip.compress, gzip.decompress), (bz2.compress, bz2.decompress)))}
buffer = io.BytesIO()
with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("log.txt", text)
    archive.writestr("dir/a.csv", "x,y\n1,2\n")
with zipfile.ZipFile(io.BytesIO(buffer.getvalue())) as archive:
    sizes["files"] = {info.filename: info.file_size for info in archive.infolist()}
    sizes["csv"] = archive.read("dir/a.csv").decode().splitlines()
record = struct.pack("<I8sd", 7, b"host-1", 2.5)
number, name, value = struct.unpack("<I8sd", record)
numbers = array("d", [row["ms"] for row in db.query("metrics", 4)])
print(len(record), name.rstrip(b"\0").decode(), number + value)
sizes | {"smaller": len(zlib.compress(text, 9)) < len(text) / 10, "array": numbers.itemsize * len(numbers), "sum": round(sum(numbers), 1)}
