"""Ways through a graph: dicts of lists with tuples as keys, a deque for the fewest steps, a heap for the least time."""
import heapq
from collections import deque

import show

from quern import njit


def town(side):
    """Crossings on a grid: the neighbours of each, and how long a street takes. Some streets are closed."""
    streets = {}
    for x in range(side):
        for y in range(side):
            here = []
            for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
                to = (x + dx, y + dy)
                if 0 <= to[0] < side and 0 <= to[1] < side and (x * 31 + y * 17 + dx * 7 + dy * 3) % 5:
                    here.append((to, 1.0 + (x * 7 + y * 13) % 10 * 0.5))
            streets[x, y] = here
    return streets


def fewest_steps(streets, start, goal):
    """The crossings on the way, found breadth first."""
    before = {start: start}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if here == goal:
            break
        for to, _ in streets[here]:
            if to not in before:
                before[to] = here
                waiting.append(to)
    way = [goal]
    if goal not in before:
        raise KeyError("there is no way")
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def least_time(streets, start, goal):
    """By Dijkstra's algorithm."""
    best = {start: 0.0}
    heap = [(0.0, start)]
    while heap:
        time, here = heapq.heappop(heap)
        if here == goal:
            return time
        if time > best[here]:
            continue
        for to, takes in streets[here]:
            if to not in best or time + takes < best[to]:
                best[to] = time + takes
                heapq.heappush(heap, (time + takes, to))
    raise KeyError("there is no way")


@njit
def both(side):
    streets = town(side)
    goal = (side - 1, side - 1)
    return len(fewest_steps(streets, (0, 0), goal)), least_time(streets, (0, 0), goal)


def plain(side):
    streets, goal = town(side), (side - 1, side - 1)
    return len(fewest_steps(streets, (0, 0), goal)), least_time(streets, (0, 0), goal)


assert both(30) == plain(30)
show.report("a town of 40,000 crossings", lambda: list(both(200)), lambda: list(plain(200)), against="Python", repeat=3)
compiled = njit(fewest_steps)
streets = town(6)
print("    the way through a small town:", *compiled(streets, (0, 0), (5, 5)))
streets[5, 4] = streets[4, 5] = []
try:
    compiled(streets, (0, 0), (5, 5))
except KeyError as error:
    print(f"    with its last streets closed: {error}")
