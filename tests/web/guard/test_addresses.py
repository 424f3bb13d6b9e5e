"""What is an address of a page, and in which form it is used."""

from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cloxy_core.services.web.address import MOST_CHARACTERS, join, parse
from cloxy_hookspecs import InputError

GOOD = {
    "http://shop.test": "http://shop.test/",
    "HTTPS://Shop.TEST:443/A": "https://shop.test/A",
    "http://shop.test:80": "http://shop.test/",
    "http://shop.test:8080/a;b=1?c=d&e#part": "http://shop.test:8080/a;b=1?c=d&e",
    "http://shop.test./": "http://shop.test/",
    "http://shop.test?q=1": "http://shop.test/?q=1",
    "http://shop.test:/": "http://shop.test/",
    "http://a_b.shop.test/": "http://a_b.shop.test/",
    "http://bücher.test/ä?ö": "http://xn--bcher-kva.test/%C3%A4?%C3%B6",
    "http://中国.test/": "http://xn--fiqs8s.test/",
    "http://9.9.9.9/": "http://9.9.9.9/",
    "http://[2606:2800:0::1]:8080/x": "http://[2606:2800::1]:8080/x",
    "http://7eleven.test/%20%zz": "http://7eleven.test/%20%zz",
    "http://1.2.3.4.shop.test/": "http://1.2.3.4.shop.test/",
}
BAD = {
    "scheme": [
        "ftp://shop.test/", "file:///etc/hosts", "gopher://shop.test/", "javascript:alert(1)",
        "data:text/plain,x", "ws://shop.test/", "shop.test/", "//shop.test/", "", "http:",
        "http:/shop.test", "http:shop.test", "ht\ttp://shop.test/", "view-source:http://shop.test/",
    ],
    "userinfo": [
        "http://me@shop.test/", "http://me:secret@shop.test/", "http://@shop.test/",
        "http://shop.test@127.0.0.1/", "http://shop.test:80@127.0.0.1/", "http://a@b@shop.test/",
    ],
    "backslash": [r"http://shop.test\@127.0.0.1/", r"http:\\shop.test\a", r"http://shop.test/a\b"],
    "unseen": [
        " http://shop.test/", "http://shop.test/ a", "http://shop.test/\n", "http://sh\top.test/",
        "http://shop.test/\x00", "http://sho\u200bp.test/", "http://shop.test/\u202egpj",
        "http://shop\u00ad.test/", "http://shop.test\u3000/", "http://shop.test/\x7f",
        "http://shop.test/\ud800", "\ufeffhttp://shop.test/",
    ],
    "port": [
        "http://shop.test:0/", "http://shop.test:-1/", "http://shop.test:65536/", "http://shop.test:080/",
        "http://shop.test:8o/", "http://shop.test:\uff18\uff10/", "http://shop.test:80:80/",
        "http://shop.test:+80/", "http://[2606:2800::1]80/",
    ],
    "ipv4": [
        "http://127.1/", "http://0x7f.1/", "http://0177.0.0.1/", "http://2130706433/",
        "http://0x7f000001/", "http://1.2.3/", "http://1.2.3.4.5/", "http://256.1.1.1/",
        "http://01.2.3.4/", "http://1.2.3.0x4/", "http://0/", "http://1.1.1.1../", "http://1..2.3/",
    ],
    "ipv6": [
        "http://[::1", "http://::1/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/",
        "http://[::g]/", "http://[]/", "http://[v1.x]/", "http://[1.2.3.4]/", "http://[::1]a/",
        "http://[::1]:80a/", "http://a[::1]/", "http://[2606:2800:1]/",
    ],
    "host": [
        "http:///path", "http://?q", "http://#x", "http://.shop.test/", "http://shop..test/",
        "http://-shop.test/", "http://shop-.test/", "http://./", "http://sh%6Fp.test/",
        "http://shop.test%00/", "http://sh*p.test/", "http://shop,test/", "http://shop!.test/",
        "http://" + "a" * 64 + ".test/", "http://" + "a." * 130 + "test/",
    ],
    "other characters": [
        "http://①②⑦.⓪.⓪.①/", "http://127。0。0。1/", "http://shop。test/", "http://ｓhop.test/",
        "http://shop．test/", "http://℀.test/", "http://shop\u2024test/", "http://ﬁ.test/",
    ],
    "idna": ["http://xn--/", "http://xn--a.test/", "http://xn--zzzzzz99999.test/", "http://☃.test/"],
    "length": [f"http://shop.test/{'a' * MOST_CHARACTERS}", f"http://shop.test/{'ä' * 2_000}"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), GOOD.items(), ids=GOOD)
def test_good_address_has_one_form(text, canonical):
    assert parse(text).url == canonical


@pytest.mark.parametrize(
    "text", [pytest.param(text, id=f"{why}-{text[:40]!a}") for why in BAD for text in BAD[why]]
)
def test_what_could_be_read_in_two_ways_is_refused(text):
    with pytest.raises(InputError):
        parse(text)


def test_parts():
    address = parse("https://[2606:2800:0:0::1]:8443/a?b")
    assert (address.scheme, address.host, address.port) == ("https", "2606:2800::1", 8443)
    assert address.is_literal
    assert address.origin == ("https", "2606:2800::1", 8443)
    assert not parse("http://shop.test/").is_literal


def test_password_is_not_repeated():
    with pytest.raises(InputError) as error:
        parse("http://me:hunter2@shop.test/")
    assert "hunter2" not in str(error.value)


JOINED = {
    "/b": "http://shop.test/b",
    "b": "http://shop.test/a/b",
    "?q": "http://shop.test/a/page?q",
    "//other.test/x": "http://other.test/x",
    "https://other.test": "https://other.test/",
    "../../..": "http://shop.test/",
    "a b": "http://shop.test/a/a%20b",
    "ä": "http://shop.test/a/%C3%A4",
    "#part": "http://shop.test/a/page",
}


@pytest.mark.parametrize(("location", "url"), JOINED.items(), ids=JOINED)
def test_location_is_joined(location, url):
    assert join(parse("http://shop.test/a/page"), location).url == url


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/hosts", "javascript:1", "//me@127.0.0.1/", r"/\127.0.0.1/", r"\\127.0.0.1",
        "/\t/127.0.0.1/", "http:///x", "//", "http:x", "ht\ntp://x.test/", "//[::1", "///x",
        "x" * 5_000, "//127.1/", "\x00", "mailto:a@b.test",
    ],
)  # fmt: skip
def test_location_is_read_as_strictly(location):
    with pytest.raises(InputError):
        join(parse("http://shop.test/a"), location)


HOSTS = st.from_regex(r"[a-z0-9äöß中é-]{1,12}(\.[a-z0-9äöß中é-]{1,12}){0,3}", fullmatch=True)
RESTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="\\"),
    max_size=30,
)
PORTS = st.one_of(st.just(""), st.integers(0, 65_535).map(":{}".format))
LITERALS = st.one_of(st.ip_addresses(v=4).map(str), st.ip_addresses(v=6).map("[{}]".format))


@given(st.sampled_from(["http", "HTTPS"]), st.one_of(HOSTS, LITERALS), PORTS, RESTS)
@example("http", "shop.test", "", ";a=1?#;")
def test_canonical_form_is_stable_and_means_the_same_to_others(scheme, host, port, rest):
    try:
        found = parse(f"{scheme}://{host}{port}/{rest}")
    except InputError:
        assume(condition=False)
    assert parse(found.url) == found
    assert found.url.isascii()
    theirs, split = httpx2.URL(found.url), urlsplit(found.url)
    assert theirs.raw_host.decode("ascii").strip("[]") == found.host
    assert split.hostname == found.host
    defaults = {"http": 80, "https": 443}
    assert (theirs.port if theirs.port is not None else defaults[theirs.scheme]) == found.port
    assert (split.port if split.port is not None else defaults[split.scheme]) == found.port


@given(st.text(max_size=60))
@example("http://[")
@example("http://\u1e9e.test")
def test_any_text_is_an_address_or_an_error(text):
    for each in (text, f"http://{text}", f"http://shop.test/{text}"):
        try:
            found = parse(each)
        except InputError:
            continue
        assert parse(found.url) == found


@given(st.text(max_size=60))
def test_any_location_is_an_address_or_an_error(text):
    try:
        found = join(parse("https://shop.test/a"), text)
    except InputError:
        return
    assert parse(found.url) == found
