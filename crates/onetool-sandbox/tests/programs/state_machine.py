from enum import Enum, Flag, auto


class State(Enum):
    OPEN = auto()
    PAID = auto()
    REFUNDED = auto()

    def next(self, event):
        try:
            return TRANSITIONS[self, event]
        except KeyError:
            raise ValueError(f"cannot {event} when {self.name.lower()}") from None


class Access(Flag):
    READ = auto()
    WRITE = auto()
    ADMIN = READ | WRITE


TRANSITIONS = {(State.OPEN, "pay"): State.PAID, (State.PAID, "refund"): State.REFUNDED}
log = []
for order in shop.orders(per_page=9)["items"]:
    state = State[order["status"].upper()]
    try:
        log.append((order["id"], state.name, state.next("refund").name))
    except ValueError as error:
        log.append((order["id"], state.name, str(error)))
print(*log, sep="\n")
{"members": [s.name for s in State], "write": Access.WRITE in Access.ADMIN, "value": (Access.READ | Access.WRITE).value, "same": State(2) is State.PAID, "repr": repr(State.OPEN)}
