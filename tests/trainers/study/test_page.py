"""Tests of trainers/study/page.py."""

import re

from trainers.study import page


def test_the_page_asks_for_the_three_answers_and_loads_nothing_from_elsewhere():
  assert re.findall(r'data-answer="(\w+)"', page.HTML) == ["A", "equal", "B"]
  assert "http:" not in page.HTML and "https:" not in page.HTML
  for address in ('"items?rater="', '"answers"', '"pictures/"'):
    assert address in page.HTML
