import graphlib

staff = db.query(table="staff")
graph = {row["name"]: {row["boss"]} - {None} for row in staff}
order = list(graphlib.TopologicalSorter(graph).static_order())
sorter = graphlib.TopologicalSorter({"deploy": {"test", "build"}, "test": {"build"}, "build": {"fetch"}})
sorter.prepare()
waves = []
while sorter.is_active():
    ready = sorted(sorter.get_ready())
    waves.append(ready)
    sorter.done(*ready)
try:
    graphlib.TopologicalSorter({"a": {"b"}, "b": {"a"}}).prepare()
except graphlib.CycleError as error:
    cycle = sorted(set(error.args[1]))
{"first": order[0], "bosses_first": all(order.index(r["boss"]) < order.index(r["name"]) for r in staff if r["boss"]), "waves": waves, "cycle": cycle}
