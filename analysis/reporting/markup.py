"""HTML elements, made so that text can never become markup."""

from xml.etree.ElementTree import Element, tostring

Content = Element | str | None


def element(tag: str, *content: Content, **attributes: str) -> Element:
    """Makes an element.

    Args:
        tag: its name.
        content: elements and text, in order; None is left out.
        attributes: by name; `class_` and `for_` lose the underscore, others become hyphens.
    """
    made = Element(tag, {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    for item in content:
        if isinstance(item, str):
            _append_text(made, item)
        elif item is not None:
            made.append(item)
    return made


def document(head: Element, body: Element) -> str:
    """The text of a page in English."""
    html = element("html", head, body, lang="en")
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
