import calendar
from datetime import date, timedelta

orders = shop.orders(per_page=50)["items"]
busy = {date.fromisoformat(order["date"]) for order in orders}
month = calendar.TextCalendar(firstweekday=0).formatmonth(2024, 2)
weeks = [[day.day if day in busy else 0 for day in week] for week in calendar.Calendar().monthdatescalendar(2024, 2)]
weekdays = [calendar.day_name[day.weekday()] for day in sorted(busy)[:4]]
quarter_end = date(2024, 3, calendar.monthrange(2024, 3)[1])
working = sum((date(2024, 1, 1) + timedelta(n)).weekday() < 5 for n in range((quarter_end - date(2024, 1, 1)).days + 1))
print(month)
{"weeks": weeks, "weekdays": weekdays, "working_days": working, "iso": quarter_end.isocalendar(), "leap": calendar.isleap(2024)}
