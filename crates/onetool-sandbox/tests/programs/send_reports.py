import string

TEMPLATE = string.Template("Dear $name,\nyou have $count open tickets.\n$list\n")
tickets = [t for t in db.query(table="tickets") if not t["closed"]]
people = [("Ada", "ada@example.com"), ("Bob", "bob at example"), ("Cy", "cy@example.com")]
sent, failed = [], {}
for (name, address), ticket in zip(people, tickets):
    body = TEMPLATE.substitute(name=name, count=1, list="- " + ticket["title"])
    try:
        sent.append(mail.send(address, f"Ticket {ticket['id']}", body=body))
    except ToolError as error:
        failed[name] = str(error)
    else:
        print(body)
    finally:
        notes.add(title=f"mailed {name}", text=ticket["title"])
try:
    TEMPLATE.substitute(name="x")
except KeyError as error:
    failed["template"] = f"missing {error}"
{"sent": sent, "failed": failed, "notes": [note["title"] for note in notes.all()], "safe": TEMPLATE.safe_substitute(name="x")[:8]}
