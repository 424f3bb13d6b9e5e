"""Pages through the sanitizers and extractors that come with Cloxy, without a process."""

from cloxy_core.services.web.chain import run
from cloxy_core.services.web.extraction import SANITIZED, takes
from cloxy_plugins.web.plugin import cloxy_extractors, cloxy_sanitizers

URL = "https://pages.example/docs/page.html"


def described(records, media_type):
    return [
        {"name": each.name, "target": each.target, "extra": each.extra}
        for each in sorted(records, key=lambda each: each.order)
        if takes(each.media_types, media_type)
    ]


def job(text, mode="clean", *, media_type="text/html", selector=None, data="", url=URL):
    extractors = [each for each in cloxy_extractors() if mode in each.modes]
    return {
        "url": url,
        "media_type": media_type,
        "text": text,
        "data": data,
        "mode": mode,
        "selector": selector,
        "sanitizers": described(cloxy_sanitizers(), media_type) if mode in SANITIZED else [],
        "extractors": described(extractors, media_type),
    }


def read(text, mode="clean", **more):
    """What is made of a page; fails where something was refused."""
    made = run(job(text, mode, **more))
    assert "refused" not in made, made
    assert made["faults"] == []
    return made


def refused(text, mode="clean", **more):
    made = run(job(text, mode, **more))
    assert "refused" in made, made
    return made


def page(body, head=""):
    return (
        f"<!DOCTYPE html><html><head><title>A page</title>{head}</head><body>{body}</body></html>"
    )
