"""A portfolio of instances: classes with @jitclass that hold each other, typed containers that both sides change."""
import show

from quern import njit, types
from quern.experimental import jitclass
from quern.typed import Dict, List


class PlainPosition:
    def __init__(self, price, quantity):
        self.price = price
        self.quantity = quantity

    @property
    def value(self):
        return self.price * self.quantity

    def move(self, change):
        self.price *= 1 + change


Position = jitclass([("price", types.float64), ("quantity", types.int64)])(PlainPosition)


class PlainPortfolio:
    def __init__(self, cash):
        self.cash = cash
        self.positions = {}
        self.history = []

    def buy(self, name, price, quantity):
        if price * quantity > self.cash:
            raise ValueError("not enough cash")
        self.cash -= price * quantity
        self.positions[name] = Position(price, quantity)

    def step(self, change):
        for position in self.positions.values():
            position.move(change)
            change = -change
        self.history.append(self.worth())

    def worth(self):
        total = self.cash
        for position in self.positions.values():
            total += position.value
        return total

    def __len__(self):
        return len(self.positions)


# fields that hold containers hold typed ones: {} and [] in a method become a typed.Dict and a typed.List
Portfolio = jitclass([("cash", types.float64), ("history", types.ListType(types.float64)),
                      ("positions", types.DictType(types.unicode_type, Position.class_type.instance_type))])(PlainPortfolio)


def simulate(portfolio, steps):
    for i in range(steps):
        portfolio.step(0.01 if i % 3 else -0.015)
    return portfolio.worth()


compiled = njit(simulate)


def bought(cls):
    portfolio = cls(100_000.0)
    for name, price, quantity in (("apples", 12.5, 100), ("pears", 7.25, 400), ("plums", 99.0, 30)):
        portfolio.buy(name, price, quantity)
    return portfolio


p = bought(Portfolio)
try:
    p.buy("a palace", 1e9, 1)
except ValueError as error:
    print("refused:", error)
compiled(p, 10)                       # compiled code changes it, and nothing is copied
p.positions["pears"].quantity += 5    # so does Python
print(f"{len(p)} positions worth {p.worth():.2f}, pears at {p.positions['pears'].price:.3f}, best day {max(p.history):.2f}")

# typed containers alone: empty ones are told what they hold, or their first item says it
prices = Dict.empty(types.unicode_type, types.ListType(types.float64))
prices["pears"] = List([7.25, 7.3])
prices["pears"].append(7.1)


@njit
def best(prices, name):
    return max(prices[name])


print("best price of pears:", best(prices, "pears"), prices)
show.report("2,000 steps of a portfolio", lambda: compiled(bought(Portfolio), 2000), lambda: simulate(bought(PlainPortfolio), 2000),
            against="Python", repeat=3)
