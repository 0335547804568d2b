class BudgetExceeded(Exception):
    def __init__(self, spent, limit):
        super().__init__(f"spent {spent:.2f} of {limit:.2f}")


spent, limit = 0.0, 300
for product in shop.products():
    spent += product["price"]
    print(f"{product['name']}: {spent:.2f}")
    if spent > limit:
        raise BudgetExceeded(spent, limit)
