"""Rows dealt from a deck have the distribution of the deck, given what they agree in."""

from __future__ import annotations

import numpy as np

from discreet.noise.replay import Replay
from discreet.synth.relations.deck import Deck, telling


def some_deck(rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """What is drawn follows from the second code that is given; the first tells nothing."""
    rng = np.random.default_rng(1)
    given = rng.integers(0, 4, (rows, 2))
    drawn = (rng.random(rows) < 0.2 + 0.2 * given[:, 1]).astype(np.int64)[:, None]
    return given, drawn


def test_only_what_tells_something_counts():
    given, drawn = some_deck()
    assert telling(given, drawn) == [1]
    assert Deck(given, drawn).columns == [1]


def test_shares_are_those_of_the_rows_that_agree():
    given, drawn = some_deck()
    deck = Deck(given, drawn)
    wanted = np.stack([np.zeros(4000, np.int64), np.repeat(np.arange(4), 1000)], axis=1)
    dealt = drawn[deck.deal(wanted, Replay(b"deck")), 0].reshape(4, 1000).mean(axis=1)
    for code, share in enumerate(dealt):
        real = drawn[given[:, 1] == code].mean()
        assert abs(share - real) < 0.002  # dealt evenly: as near as whole rows can be


def test_the_same_bits_deal_the_same_rows():
    given, drawn = some_deck(500)
    deck = Deck(given, drawn)
    assert np.array_equal(deck.deal(given, Replay(b"x")), deck.deal(given, Replay(b"x")))
    assert not np.array_equal(deck.deal(given, Replay(b"x")), deck.deal(given, Replay(b"y")))


def test_where_nothing_agrees_what_tells_least_is_left_out():
    rng = np.random.default_rng(2)
    given = np.stack([np.arange(6000) % 3, np.arange(6000) % 2], axis=1)
    drawn = (given[:, :1] * 2 + (rng.random((6000, 1)) < 0.3 + 0.4 * given[:, 1:])).astype(np.int64)
    deck = Deck(given, drawn)
    assert deck.columns == [0, 1]
    dealt = deck.deal(np.array([[2, 9], [1, 0], [8, 8]]), Replay(b"x"))
    assert given[dealt[0], 0] == 2  # the second code was never seen
    assert given[dealt[1]].tolist() == [1, 0]
    assert 0 <= dealt[2] < 6000  # nothing was: any row


def test_codes_that_were_not_seen_are_no_others():
    """Code 3 of a column with two codes is not code 1 of the next one."""
    given = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50)
    drawn = given.copy()
    deck = Deck(given, drawn)
    assert (given[deck.deal(np.array([[0, 2]] * 20), Replay(b"x")), 0] == 0).all()


def test_an_empty_deck_deals_nothing():
    deck = Deck(np.zeros((0, 2), np.int64), np.zeros((0, 1), np.int64))
    assert deck.rows == 0
    assert len(deck.deal(np.zeros((0, 2), np.int64), Replay(b"x"))) == 0
