"""Made-up messages: ordinary ones without a digit, secrets with four."""

from discreet.apps.attacks.messages import LETTERS, OWNERS, WIDTH, draw_messages, draw_secrets, encode


def test_ordinary_messages_have_no_digits_and_fit():
    texts = draw_messages(300)
    assert len(set(texts)) > 100
    assert not any(letter.isdigit() for text in texts for letter in text)
    assert max(map(len, texts)) < WIDTH
    assert encode(texts).shape == (300, WIDTH)


def test_secrets_are_of_different_people_and_written_with_four_digits():
    secrets = draw_secrets(len(OWNERS))
    assert len({secret.owner for secret in secrets}) == len(OWNERS)
    assert all(secret.text == f"{secret.opening}{secret.code:04d}" for secret in secrets)
    assert max(len(secret.text) for secret in secrets) < WIDTH
    assert set("".join(secret.text for secret in secrets)) <= set(LETTERS)
