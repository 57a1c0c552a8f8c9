"""Tests of gcap_tf/progress.py."""

from gcap_tf import progress


def test_a_bar_passes_items_through_and_shows_its_label(capsys):
  assert list(progress.bar([1, 2, 3], label="reading", unit="record")) == [1, 2, 3]
  shown = capsys.readouterr().err
  assert "reading" in shown and "3/3" in shown
