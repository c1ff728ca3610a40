"""Elements: whatever is put into a page stays text, in its content and in its attributes."""

from html.parser import HTMLParser

import pytest

from vwkde._display.markup import Markup, element, joined

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onclick='alert(1)",
    "a & b &lt; c",
    "é \u202e",
]


class Read(HTMLParser):
    """What a browser makes of a page: its elements with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_text_is_escaped_and_elements_are_not():
    written = element(
        "p", "<b>", element("i", "a < b"), [element("br")], None, 3, title='"><x', class_="k", hidden=True
    )
    assert written == '<p title="&#34;&gt;&lt;x" class="k" hidden>&lt;b&gt;<i>a &lt; b</i><br>3</p>'
    assert element("rect", x=0, data_kind=None, open=False) == '<rect x="0"></rect>'
    assert joined("&", element("b", "&")) == "&amp;<b>&amp;</b>"


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_comes_out_as_it_went_in(text):
    page = Read(element("p", text, [text, (element("b", text),)], title=text, data_name=text))
    assert page.elements == [("p", {"title": text, "data-name": text}), ("b", {})]
    assert page.text == 3 * text


def test_markup_in_an_attribute_is_text():
    assert Read(element("p", title=Markup('"><b>'))).elements == [("p", {"title": '"><b>'})]


def test_elements_without_content_have_no_end():
    assert element("img", src="a.png", alt="") == '<img src="a.png" alt="">'
