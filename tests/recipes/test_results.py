"""Tests of gcap_tf/recipes/results.py."""

import dataclasses
import math

from gcap_tf.metrics.bootstrap import resampling
from gcap_tf.recipes import experiments, results, settings

TABLE = experiments.Table(
  paper="paper",
  split="val",
  columns=(experiments.Column("f1_loc", "F1_loc"), experiments.Column("cider", "CIDEr")),
  rows=(
    experiments.Row(
      name="plain", label="Plain", training=None, printed={settings.F30K_VAL: {"f1_loc": 13.0}}
    ),
    experiments.Row(
      name="taught",
      label="Taught",
      training=None,
      printed={settings.F30K_VAL: {"f1_loc": 18.0}},
      note="taught by boxes",
    ),
    experiments.Row(name="teacher", label="Teacher", training=None, listed=False),
    experiments.Row(name="never", label="Not trained", training=None),
  ),
  claims=(
    experiments.Claim(better="taught", worse="plain", key="f1_loc"),
    experiments.Claim(better="taught", worse="plain", key="cider", lower=True),
    experiments.Claim(better="never", worse="plain", key="cider"),
  ),
)
RUNS = {
  "plain": {
    1: {"figures": {"f1_loc": 10.0, "cider": 50.0}, "minutes": 2.0},
    2: {"figures": {"f1_loc": 14.0, "cider": 52.0}, "minutes": 4.0},
  },
  "taught": {1: {"figures": {"f1_loc": 20.0, "cider": 60.0}, "minutes": 3.0}},
  "teacher": {1: {"figures": {"rsum": 400.0}, "minutes": 1.0}},
}


def test_means_deviations_and_claims():
  summary = results.summarise(TABLE, "small", settings.F30K_VAL, "data", RUNS)
  plain, taught, teacher = summary["rows"]
  figure = plain["figures"]["f1_loc"]
  assert math.isclose(figure["mean"], 12.0) and math.isclose(figure["std"], math.sqrt(8.0))
  assert (figure["paper"], plain["minutes"], plain["seeds"]) == (13.0, 3.0, [1, 2])
  assert taught["figures"]["cider"]["std"] == 0 and teacher["figures"] == {}
  verdicts = [claim["verdict"] for claim in summary["claims"]]
  assert verdicts == ["holds", "does not hold"]


def test_the_text_shows_ours_the_papers_and_the_difference():
  text = results.markdown(results.summarise(TABLE, "small", settings.F30K_VAL, "data", RUNS))
  assert "| Plain | 12.00 ± 2.83 (13, -1.00) | 51.00 ± 1.41 | 2 | 3.0 |" in text
  assert "| Taught | 20.00 (18, +2.00) | 60.00 | 1 | 3.0 |" in text
  assert "Teacher" not in text and "- Taught: taught by boxes" in text
  assert "- Holds: Taught is above Plain in F1_loc (20.00 against 10.00; in the paper 18" in text
  assert "- **Does not hold here**: Taught is below Plain in CIDEr (60.00 against 50.00)." in text


def test_figures_of_a_paper_are_not_set_beside_those_of_other_data():
  scenes = settings.Setting("scenes", "val", "other", 1000)
  text = results.markdown(results.summarise(TABLE, "small", scenes, "scenes", RUNS))
  assert "| Plain | 12.00 ± 2.83 | 51.00 ± 1.41 | 2 | 3.0 |" in text
  assert "The paper's figures are for other data and are not shown." in text
  # A claim always names the paper's pair, and what it is printed for.
  assert "in the paper 18 against 13, flickr30k_entities val" in text


def test_figures_of_another_split_are_named():
  test = dataclasses.replace(settings.F30K_VAL, split="test")
  text = results.markdown(results.summarise(TABLE, "small", test, "data", RUNS))
  assert "the paper's figure of its val split is in brackets" in text and "(13, -1.00)" in text


def test_claims_have_intervals_if_pictures_are_known():
  statistics = {
    "plain": {1: {"f1_loc": resampling.mean([10.0, 12.0])}},
    "taught": {1: {"f1_loc": resampling.mean([20.0, 22.0])}},
  }
  summary = results.summarise(
    TABLE, "small", settings.F30K_VAL, "data", RUNS, statistics=statistics
  )
  first, second = summary["claims"]
  assert first["verdict"] == "holds" and first["interval"]["pictures"] == 2
  assert second["interval"] is None
  assert "difference +10.00 to +10.00, 95 %, 1 seed, 2 pictures" in results.markdown(summary)


def test_departures_are_listed_with_the_rows_that_have_them():
  @dataclasses.dataclass(frozen=True)
  class Training:
    epochs: int

  rows = (
    dataclasses.replace(TABLE.rows[0], training=Training(2), published=Training(30)),
    *TABLE.rows[1:],
  )
  table = dataclasses.replace(TABLE, rows=rows, departures=("Words are counted on train.",))
  text = results.markdown(results.summarise(table, "small", settings.F30K_VAL, "data", RUNS))
  assert "Departures at every scale:\n\n- Words are counted on train." in text
  assert "Departures of the scale small:\n\n- epochs 2 instead of 30 (plain)" in text


def test_a_search_names_its_best_row():
  table = dataclasses.replace(TABLE, best="cider")
  summary = results.summarise(table, "small", settings.F30K_VAL, "data", RUNS)
  assert summary["best"]["name"] == "taught"
  assert "- Best CIDEr: Taught." in results.markdown(summary)


def test_a_page_has_every_table_under_the_commands_that_make_it():
  commands = ["python -m trainers.reproduce --paper=paper --data=/home/me/f30k --out=/tmp/x"]
  summary = results.summarise(TABLE, "small", settings.F30K_VAL, "data", RUNS, commands)
  page = results.page("Results", [summary, {**summary, "paper": "other"}])
  assert page.startswith("# Results\n\n## paper: data, val split\n")
  assert "    python -m trainers.reproduce --paper=paper --data=DATA --out=OUT\n" in page
  assert page.index("## other") > page.index("| Plain |") and "/home" not in page


def test_figures_that_are_not_finite_are_found():
  assert results.is_finite({"cider": 1.0, "name": "x"})
  assert not results.is_finite({"cider": math.nan})


def test_folders_of_a_machine_are_not_shown():
  command = "prepare_data --regions=pictures --pictures=/home/me/photos --source=/home/me --out=/x"
  shown = "prepare_data --regions=pictures --pictures=PICTURES --source=SOURCE --out=OUT"
  assert results.without_paths(command) == shown


def test_a_claim_of_one_seed_of_three_cannot_be_told():
  summary = results.summarise(TABLE, "small", settings.F30K_VAL, "data", RUNS, least_seeds=2)
  assert [claim["verdict"] for claim in summary["claims"]] == ["cannot be told"] * 2
