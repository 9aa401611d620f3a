"""A process of its own that works on a store: started by tests, killed by some of them."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

from lapsus.store import Reservation, SaveRequest, Store, open_store


def judge(store: Store, person: int) -> None:
    """Judge until nothing is left; give some documents back midway."""
    for turn in count():
        given = store.assignment.next_units(person, "chat")
        if not isinstance(given, Reservation):
            if given.reason == "done":
                return
            time.sleep(0.05)
            continue
        units = given.units[:1] if (turn + person) % 5 == 4 else given.units
        for unit in units:
            key = f"{person}-{unit.number}"
            store.saves.save(SaveRequest(key, "chat", unit.number, person, {"breakdown": "O"}))
        if len(units) < len(given.units):
            store.assignment.give_back(person, "chat")


def reserve(store: Store, person: int) -> None:
    """Take one document and say so."""
    given = store.assignment.next_units(person, "chat")
    assert isinstance(given, Reservation)
    sys.stdout.write("".join(f"{person} {unit.number}\n" for unit in given.units))


def stream(store: Store, person: int, start: int) -> None:
    """Save for ever, several at a time, and say what was acknowledged."""
    given = store.assignment.next_units(person, "chat")
    assert isinstance(given, Reservation)
    units = [unit.number for unit in given.units]
    for number in count(start):
        keys = [f"{start}-{number}-{place}" for place in range(4)]
        saves = [
            SaveRequest(
                key, "chat", unit, person, {"breakdown": "OTX"[number % 3], "comment": key}, submitted=False
            )
            for key, unit in zip(keys, units, strict=True)
        ]
        print("sent", *keys, flush=True)
        for key, future in zip(keys, [store.saves.save_soon(save) for save in saves], strict=True):
            future.result()
            print("kept", key, flush=True)


def main() -> None:
    """What, on which database, for whom."""
    what, url, *numbers = sys.argv[1:]
    with open_store(url) as store:
        match what:
            case "open":
                print(store.people.has_manager())
            case "judge" | "reserve":
                work = judge if what == "judge" else reserve
                with ThreadPoolExecutor(len(numbers)) as pool:
                    list(pool.map(lambda number: work(store, int(number)), numbers))
            case "stream":
                stream(store, int(numbers[0]), int(numbers[1]))


if __name__ == "__main__":
    main()
