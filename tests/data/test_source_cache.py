"""What an open source remembers: a few entries, by key, for any number of threads."""

import copy
import pickle
import threading

from discreet.data.source_cache import SourceCache


def test_the_least_recently_used_entry_goes_first():
    cache = SourceCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert [cache.get(key) for key in "abc"] == [1, None, 3]
    assert len(cache) == 2


def test_what_is_known_is_not_computed_again():
    cache, asked = SourceCache(), []

    def compute():
        asked.append(1)
        return len(asked)

    assert [cache.of("a", compute) for _ in range(3)] == [1, 1, 1]
    assert [cache.of(None, compute) for _ in range(2)] == [2, 3]
    assert len(cache) == 1


def test_what_was_computed_of_something_that_changed_is_not_remembered():
    cache = SourceCache()
    assert cache.of("a", lambda: 1, lambda: False) == 1
    assert cache.of("a", lambda: 2, lambda: True) == 2
    assert cache.of("a", lambda: 3, lambda: True) == 2


def test_long_texts_leave_room_for_few():
    cache = SourceCache(10, letters=100)
    for key in "abc":
        cache.put(key, key, 40)
    cache.put("d", "d")
    assert [cache.get(key) for key in "abcd"] == [None, "b", "c", "d"]
    cache.put("e", "e", 101)
    assert len(cache) == 0


def test_parts_are_told_apart_and_share_the_bounds():
    cache = SourceCache(2)
    parts = [cache.within(name) for name in ("x", "y")]
    for number, part in enumerate((cache, *parts)):
        part.put("a", number)
    assert [part.get("a") for part in (cache, *parts)] == [None, 1, 2]
    assert parts[0].within("y").get("a") is None
    assert len(cache) == 2


def test_a_copy_begins_empty():
    cache = SourceCache(3)
    cache.put("a", 1)
    for other in (copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))):
        assert len(other) == 0
        other.put("b", 2)
    assert cache.get("b") is None


def test_threads_keep_it_within_its_bounds():
    cache, wrong = SourceCache(16), []

    def work(start):
        for number in range(start, start + 2000):
            key = number % 64
            if cache.of(key, lambda key=key: key * 7 + 1) != key * 7 + 1 or len(cache) > 16:
                wrong.append(key)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache) == 16
