"""A workshop as a queue of events: heapq over tuples, dicts of lists, frozen dataclasses for what stays the same."""
import heapq
from dataclasses import dataclass

import show

from quern import njit


@dataclass(frozen=True)
class Workshop:
    stations: int
    pause: float = 0.25

    def time_for(self, job):
        return 1.0 + (job * 7919 % 13) * 0.125 + self.pause


def simulated(shop, jobs):
    """When each job is done, which station did which, and the time of the last."""
    events = []
    for station in range(shop.stations):
        heapq.heappush(events, (0.0, station))
    done = {}
    by_station = {}
    last = 0.0
    for job in range(jobs):
        now, station = heapq.heappop(events)
        end = now + shop.time_for(job)
        done[job] = end
        by_station.setdefault(station, []).append(job)
        heapq.heappush(events, (end, station))
        last = max(last, end)
    return done, by_station, last


shop = Workshop(4)
compiled = njit(simulated)
assert compiled(shop, 1000) == simulated(shop, 1000)
show.report("100,000 jobs on 4 stations", lambda: compiled(shop, 100_000)[2], lambda: simulated(shop, 100_000)[2], against="Python", repeat=3)
done, by_station, last = compiled(shop, 20)
for station, jobs in sorted(by_station.items()):
    print(f"    station {station}: {jobs}")
print(f"    all done at {last}")
