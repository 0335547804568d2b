import configparser
import tomllib

settings = tomllib.loads(web.fetch("https://example.com/config.toml"))
ini = configparser.ConfigParser()
ini.read_string(web.fetch("https://example.com/app.ini"))

merged = {
    "port": settings["server"]["port"],
    "hosts": settings["server"]["hosts"],
    "workers": ini.getint("main", "workers"),
    "debug": ini["main"].getboolean("debug"),
    "timeout": ini.get("db", "timeout"),
    "missing": ini.get("db", "nothing", fallback="n/a"),
    "sections": ini.sections(),
}
try:
    tomllib.loads("a = [1, 2")
except tomllib.TOMLDecodeError as error:
    merged["broken"] = type(error).__name__
merged
