import email
from email import policy
from email.message import EmailMessage

message = email.message_from_string(web.fetch("https://example.com/mail.eml"), policy=policy.default)
body = message.get_content().strip().splitlines()

reply = EmailMessage()
reply["To"] = message["From"]
reply["Subject"] = f"Re: {message['Subject']}"
reply.set_content("\n".join(f"> {line}" for line in body) + "\n\nThanks!\n")
answer = mail.send(to="ada@example.com", subject=str(reply["Subject"]), body=reply.get_content())
print(reply.get_content())
{"subject": str(message["subject"]), "from": message["From"].addresses[0].addr_spec, "when": message["date"].datetime.isoformat(), "lines": len(body), "answer": answer}
