import logging
import sys
import traceback

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)-8s %(name)s: %(message)s")
log = logging.getLogger("import")
log.info("start with %d products", len(shop.products()))
done = 0
for number in (1, 42, 3):
    try:
        customer = shop.customer(id=number)
        log.debug("not shown %s", customer)
        done += 1
    except ToolError as error:
        log.warning("skipped: %s", error)
        text = traceback.format_exception_only(type(error), error)[-1].strip()
try:
    {}["x"]
except KeyError:
    names = [frame.name for frame in traceback.extract_tb(sys.exc_info()[2])]
log.error("done %d", done)
[text, names, log.getEffectiveLevel(), logging.getLevelName(30)]
