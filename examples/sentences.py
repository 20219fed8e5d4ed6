"""Sentences about four topics, made from word lists: text data without a download."""

import random

TOPICS = {
    "food": (
        "soup bread cheese dinner recipe kitchen lemon garlic noodles bakery",
        "cooked tasted served baked ordered",
    ),
    "sport": (
        "match goal coach stadium runner tennis league team medal referee",
        "won lost played trained scored",
    ),
    "travel": (
        "airport hotel train passport beach luggage museum island ticket harbour",
        "visited booked boarded explored left",
    ),
    "weather": (
        "storm rain sunshine forecast cloud snow wind thunder fog heat",
        "hit covered followed surprised reached",
    ),
}
PEOPLE = ("we", "they", "my friend", "the children", "our neighbours", "her brother")
PLACES = ("yesterday", "in the morning", "last summer", "near the river", "after lunch", "again")


def sentences(n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """``n`` sentences and their topics."""
    rng = random.Random(seed)
    texts, topics = [], []
    for _ in range(n):
        topic = rng.choice(sorted(TOPICS))
        nouns, verbs = (words.split() for words in TOPICS[topic])
        texts.append(
            f"{rng.choice(PEOPLE)} {rng.choice(verbs)} the {rng.choice(nouns)} "
            f"and the {rng.choice(nouns)} {rng.choice(PLACES)}"
        )
        topics.append(topic)
    return texts, topics
