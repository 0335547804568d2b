import cmath
import colorsys
import math

prices = [p["price"] for p in shop.products()]
low, high = min(prices), max(prices)


def color(value):
    share = (math.log(value) - math.log(low)) / (math.log(high) - math.log(low))
    red, green, blue = colorsys.hsv_to_rgb((1 - share) / 3, 0.8, 0.9)
    return "#" + "".join(f"{round(part * 255):02x}" for part in (red, green, blue))


roots = [cmath.rect(1, 2 * math.pi * k / 3) for k in range(3)]
z = cmath.sqrt(-4)
print([color(price) for price in prices[:4]])
{
    "roots": [[round(r.real, 6), round(r.imag, 6)] for r in roots], "sqrt": str(z), "phase": round(cmath.phase(1j), 6), "power": pow(7, 222, 1000),
    "big": 2 ** 100 // 3 ** 20, "digits": len(str(math.factorial(60))), "bits": (1023).bit_length(), "hex": int("ff", 16), "round": [round(2.5), round(-1.005, 2), 7 // -2, -7 % 3],
    "close": math.isclose(sum([0.1] * 10), 1.0), "fsum": math.fsum([0.1] * 10), "inf": math.inf > high, "distance": math.dist((0, 0), (3, 4)),
}
