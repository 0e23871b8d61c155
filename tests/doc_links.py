"""Which links of a document lead nowhere."""

import re
from pathlib import Path

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def broken_links(path: Path) -> list[str]:
    """Links to files or headings that are not there; those to the web are not followed."""
    links = re.findall(r"\]\(([^)]+)\)", _FENCED.sub("", path.read_text("utf-8")))
    assert links
    return [link for link in links if not link.startswith("https://") and not _leads_somewhere(path, link)]


def _leads_somewhere(path: Path, link: str) -> bool:
    name, _, heading = link.partition("#")
    target = (path.parent / name) if name else path
    if not heading:
        return target.exists()
    return target.is_file() and heading in headings(target.read_text("utf-8"))


def headings(text: str) -> set[str]:
    """Headings of a document as links name them."""
    titles = re.findall(r"^#+ (.*)$", _FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
