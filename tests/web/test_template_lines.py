"""Line breaks of a template are not sent, except where the page needs them."""

from __future__ import annotations

import pytest

from chainviz.web.template_engine import join_lines


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("<ul>\n  <li>\n    One\n  </li>\n</ul>\n", "<ul><li>One</li></ul>"),
        ("<p>\n  two\n  words and\n  {{ name }}\n</p>", "<p>two words and {{ name }}</p>"),
        ("{% if a %}\n  <b>1</b>\n{% else %}\n  {{ b }}\n{% endif %}", "{% if a %}<b>1</b>{% else %}{{ b }}{% endif %}"),
        ("<b>1</b> <i>2</i>{% if a %} 3{% endif %}", "<b>1</b> <i>2</i>{% if a %} 3{% endif %}"),
        ('<a class="{% if a > 1 %}x{% endif %}"\n    href="#"\n>1</a>', '<a class="{% if a > 1 %}x{% endif %}" href="#" >1</a>'),
        ('<a id="a"\n    {% if b %} hidden{% endif %}\n    href="#">', '<a id="a"{% if b %} hidden{% endif %} href="#">'),
        ("<a title='a > b'\n  data-c='{\"d\":\n  1}'>\n1</a>", "<a title='a > b' data-c='{\"d\": 1}'>1</a>"),
        ('<textarea\n  name="a">\n  {{ text }}\n</textarea>\n<b>', '<textarea name="a">\n  {{ text }}\n</textarea><b>'),
        ("<pre>\n  1\n</pre>\n{# note #}\n<b>", "<pre>\n  1\n</pre>{# note #}<b>"),
    ],
)
def test_line_breaks_are_layout(source: str, page: str) -> None:
    assert join_lines(source) == page
