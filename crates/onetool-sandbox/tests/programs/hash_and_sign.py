import base64
import binascii
import hashlib
import hmac
import json

body = json.dumps(shop.product("KB-01"), sort_keys=True, separators=(",", ":")).encode()
signature = hmac.new(b"secret", body, hashlib.sha256).hexdigest()
header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"}).encode()).rstrip(b"=").decode()
etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
checks = [hmac.compare_digest(signature, hmac.new(key, body, "sha256").hexdigest()) for key in (b"secret", b"guess")]
print(header, etag[:8])
{
    "signature": signature, "sha512": hashlib.sha512(body).hexdigest()[:16], "blake": hashlib.blake2b(body, digest_size=8).hexdigest(),
    "checks": checks, "crc": binascii.crc32(body), "hex": binascii.hexlify(body[:4]).decode(), "b85": base64.b85encode(body[:6]).decode(),
}
