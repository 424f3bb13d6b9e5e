"""Numbers, dates and versions of a claim beside those of a passage."""

import pytest

from cloxy_plugins.web.operations_figures import MOST_FIGURES, compare, figures

SAME = [
    ("It holds 1,500 users", "up to 1500 users"),
    ("It holds 1.500 users", "up to 1,500 users"),
    ("It holds 1.5k users", "It has 1 500 users"),
    ("It holds 1500 users", "1\u202f500 users"),
    ("costs 1.234,56 EUR", "for €1,234.56"),
    ("costs $5M", "costs 5 million dollars"),
    ("waits 30 seconds", "a timeout of 0.5 minutes"),
    ("waits 1.5 s", "waits 1500ms"),
    ("is 5 km away", "5000 m from here"),
    ("takes 1 GB", "needs 1024 MB"),
    ("takes 1 GB", "needs 1,000 MB"),
    ("grew 30 %", "grew by 30 percent"),
    ("grew 30%", "growth of 30 per cent"),
    ("has three layers", "the 3 layers"),
    ("at -5 °C", "down to −5°C"),
    ("人口1.4亿", "人口为 140,000,000"),
    ("全角１２個", "12個"),
    ("more than 100 users", "150 users were seen"),
    ("up to 100 users", "80 users were seen"),
    ("nearly 30%", "29.6% of all"),
    ("port 9055", "9055"),
    ("timeout of 30 seconds", "| timeout (s) | 30 |"),
    ("at 2:30 pm", "begins 14:30"),
    ("released on 3 May 2024", "Released: 2024-05-03."),
    ("released on May 3rd, 2024", "am 03.05.2024 erschienen"),
    ("released on 3 May 2024", "le 3 mai 2024"),
    ("released 2024年5月3日", "3. Mai 2024"),
    ("on 03/05/2024", "on May 3, 2024"),
    ("on 03/05/2024", "on March 5, 2024"),
    ("in May 2024", "on 2024-05-17"),
    ("in 2019", "on 12 March 2019"),
    ("founded in 2019", "since 2019"),
    ("Python 3.11", "needs version 3.11.4"),
    ("needs v5.1", "5.1.2 is enough"),
    ("needs 5.1.0-rc1", "v5.1.0rc1"),
]
DIFFERENT = [
    ("waits 30 seconds", "The timeout is 60 s by default", "60 s"),
    ("takes 1 GB", "needs 2,000 MB", "2,000 MB"),
    ("grew 30%", "grew by 35 percent", "35 percent"),
    ("has three layers", "has four layers", "four"),
    ("12 moons", "its 14 known moons", "14"),
    ("port 9055", "listens on port 8080", "8080"),
    ("costs $5M", "costs $6M", "$6M"),
    ("more than 100 users", "just 80 users", "80"),
    ("released on 3 May 2024", "It came on 4 May 2024", "4 May 2024"),
    ("in May 2024", "on 2024-06-17", "2024-06-17"),
    ("founded in 2019", "founded in 2021 with 40 people", "2021"),
    ("needs v5.1", "needs v5.2", "v5.2"),
    ("at 10:30", "at 11:30", "11:30"),
    ("1.4亿人", "1.5亿人", "1.5亿"),
]
ABSENT = [
    ("waits 30 seconds", "It waits for a while"),
    ("has 40 users", "costs 10 dollars a month"),
    ("takes 5 GB", "reads 5 GB/s"),
    ("released on 3 May 2024", "released in 2024"),
    ("founded in 2019", "it has 40 people"),
    ("needs v5.1", "needs 5 GB"),
]


def only(claim, passage):
    (compared,) = compare(figures(claim), figures(passage))
    return compared


@pytest.mark.parametrize(("claim", "passage"), SAME)
def test_same(claim, passage):
    found = only(claim, passage)
    assert found.status == "same"
    assert all(text in passage for text in found.page)


@pytest.mark.parametrize(("claim", "passage", "shown"), DIFFERENT)
def test_different(claim, passage, shown):
    found = only(claim, passage)
    assert (found.status, found.page) == ("different", [shown])
    assert found.claim in claim


@pytest.mark.parametrize(("claim", "passage"), ABSENT)
def test_absent_is_not_different(claim, passage):
    found = only(claim, passage)
    assert (found.status, found.page) == ("absent", [])


def test_one_that_agrees_is_enough():
    found = only("waits 30 seconds", "It waits 30 seconds, and 60 seconds the second time")
    assert (found.status, found.page) == ("same", ["30 seconds"])


def test_every_figure_of_a_claim_has_its_own_answer():
    claim = "Version 2.1.0 came on 1 June 2023 and is 20% faster"
    passage = "On June 1, 2023 we released 2.1.0, which is 25% faster"
    compared = compare(figures(claim), figures(passage))
    assert [(one.claim, one.status) for one in compared] == [
        ("Version 2.1.0", "same"),
        ("1 June 2023", "same"),
        ("20%", "different"),
    ]


def test_what_is_no_figure():
    assert figures("The crane is white, one of a kind; mp3, x86_64, sha256") == []


def test_a_range_is_two_numbers():
    assert [figure.text for figure in figures("10–20 users")] == ["10", "20"]


def test_a_claim_full_of_numbers_is_bounded():
    wanted = figures(" and ".join(f"{number} cats" for number in range(2, 200)))
    assert len(compare(wanted, figures("3 cats"))) == MOST_FIGURES


@pytest.mark.parametrize(
    "text",
    [
        *(part * 1000 for part in ("99999", "1,", "1 ", "1.1.", "2024-", "may ", "-", ",000")),
        *("1e999", "٣ apples", "²", "½", "99/99/2024", "32.13.2024", "0:99", "1" + ",000" * 900),
    ],
)
def test_nothing_that_looks_like_figures_is_an_error(text):
    for figure in compare(figures(text), figures(text)):
        assert figure.status == "same"
