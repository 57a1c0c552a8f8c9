"""Tests of gcap_tf/recipes/results.py."""

import math

from gcap_tf.recipes import experiments, results

TABLE = experiments.Table(
  "paper",
  "val",
  (experiments.Column("f1_loc", "F1_loc", 100.0), experiments.Column("cider", "CIDEr")),
  (
    experiments.Row("plain", "Plain", None, {"f1_loc": 13.0}),
    experiments.Row("taught", "Taught", None, {"f1_loc": 18.0}, note="taught by boxes"),
    experiments.Row("teacher", "Teacher", None, listed=False),
    experiments.Row("never", "Not trained", None),
  ),
  (
    experiments.Claim("taught", "plain", "f1_loc"),
    experiments.Claim("taught", "plain", "cider", lower=True),
    experiments.Claim("never", "plain", "cider"),
  ),
)
RUNS = {
  "plain": {
    1: {"figures": {"f1_loc": 0.10, "cider": 50.0}, "minutes": 2.0},
    2: {"figures": {"f1_loc": 0.14, "cider": 52.0}, "minutes": 4.0},
  },
  "taught": {1: {"figures": {"f1_loc": 0.2, "cider": 60.0}, "minutes": 3.0}},
  "teacher": {1: {"figures": {"rsum": 400.0}, "minutes": 1.0}},
}


def test_means_deviations_and_claims():
  summary = results.summarise(TABLE, "small", "val", "scenes", RUNS)
  plain, taught, teacher = summary["rows"]
  figure = plain["figures"]["f1_loc"]
  assert math.isclose(figure["mean"], 12.0) and math.isclose(figure["std"], math.sqrt(8.0))
  assert (figure["paper"], plain["minutes"], plain["seeds"]) == (13.0, 3.0, [1, 2])
  assert taught["figures"]["cider"]["std"] == 0 and teacher["figures"] == {}
  assert [claim["holds"] for claim in summary["claims"]] == [True, False]


def test_the_text_shows_ours_the_papers_and_the_difference():
  text = results.markdown(results.summarise(TABLE, "small", "val", "scenes", RUNS))
  assert "| Plain | 12.00 ± 2.83 (13, -1.00) | 51.00 ± 1.41 | 2 | 3.0 |" in text
  assert "| Taught | 20.00 (18, +2.00) | 60.00 | 1 | 3.0 |" in text
  assert "Teacher" not in text and "- Taught: taught by boxes" in text
  assert "- Holds: Taught is above Plain in F1_loc (20.00 against 12.00; in the paper 18" in text
  assert "- **Does not hold here**: Taught is below Plain in CIDEr (60.00 against 51.00)." in text


def test_a_page_has_every_table_under_the_commands_that_make_it():
  commands = ["python -m trainers.reproduce --paper=paper --data=/home/me/f30k --out=/tmp/x"]
  summary = results.summarise(TABLE, "small", "val", "scenes", RUNS, commands)
  page = results.page("Results", [summary, {**summary, "paper": "other"}])
  assert page.startswith("# Results\n\n## paper: scenes, val split\n")
  assert "    python -m trainers.reproduce --paper=paper --data=DATA --out=OUT\n" in page
  assert page.index("## other") > page.index("| Plain |") and "/home" not in page


def test_figures_that_are_no_numbers_are_found():
  assert results.is_finite({"cider": 1.0, "name": "x"})
  assert not results.is_finite({"cider": math.nan})
