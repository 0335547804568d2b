import copy
import pickle
import pprint

template = {"name": "", "labels": [], "nested": {"count": 0}}
made = []
for ticket in db.query("tickets", limit=3):
    item = copy.deepcopy(template)
    item["name"] = ticket["title"]
    item["labels"].extend(ticket["labels"])
    item["nested"]["count"] = len(ticket["labels"])
    made.append(item)
shallow = copy.copy(template)
shallow["nested"]["count"] = 99
again = pickle.loads(pickle.dumps(made))
pprint.pprint(made, width=60)
print(pprint.pformat({"z": list(range(30)), "a": {"deep": {"er": ["x" * 20, "y" * 20]}}}, width=50, compact=True))
{"template": template, "equal": again == made, "same": again is made}
