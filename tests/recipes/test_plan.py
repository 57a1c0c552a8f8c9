"""Tests of gcap_tf/recipes/plan.py."""

from gcap_tf.recipes import catalog, experiments, plan, scales

SCALE = scales.SCALES.get("photographs")
TABLES = {paper: catalog.table(paper, SCALE) for paper in catalog.TABLES}


def test_every_row_of_a_claim_is_planned_once_after_those_it_needs():
  steps = plan.order(TABLES, (1, 2, 3))
  names = [step.name for step in steps]
  assert len(set(names)) == len(names)
  for paper, table in TABLES.items():
    about = {name for claim in table.claims for name in (claim.better, claim.worse)}
    wanted = {row.name for row in experiments.in_order(table, sorted(about))}
    assert {step.row for step in steps if step.paper == paper} == wanted
  for number, step in enumerate(steps):
    assert all(f"{step.paper}/{row}/seed_{step.seed}" in names[:number] for row in step.needs)


def test_the_cheapest_claim_comes_first_with_all_its_seeds():
  steps = plan.order(TABLES, (1, 2))
  dearest = max(plan.minutes(row.training) for row in TABLES["distributed"].rows)
  assert steps[0].minutes < dearest
  first = steps[: next(n for n, step in enumerate(steps) if step.paper != steps[0].paper)]
  assert {step.seed for step in first} == {1, 2}
  alone = [
    sum(plan.minutes(table.row(name).training) for name in (claim.better, claim.worse))
    for table in TABLES.values()
    for claim in table.claims
    if not any(experiments.needs(table.row(n).training) for n in (claim.better, claim.worse))
  ]
  begun = [step for step in steps[:2] if step.seed == 1]
  assert len(begun) == 2 and sum(step.minutes for step in begun) <= min(alone) + 1e-6


def test_the_claims_of_all_papers_take_a_night():
  steps = plan.order(TABLES, SCALE.seeds)
  assert 6 * 60 < sum(step.minutes for step in steps) < 9 * 60
  assert all(step.minutes < 10 for step in steps)


def test_finished_runs_cost_nothing():
  def to_train(paper, names, seed):
    table = TABLES[paper]
    rows = experiments.in_order(table, list(names))
    return [row for row in rows if paper != "distributed" or row.name not in ("k4", "k1")]

  usual, steps = (plan.order(TABLES, (1,), to_train=each) for each in (None, to_train))
  assert {step.name for step in steps[:2]} == {"distributed/k4/seed_1", "distributed/k1/seed_1"}
  assert {step.name for step in steps} == {step.name for step in usual}


def test_other_rows_follow_if_they_are_wanted():
  claims, everything = plan.order(TABLES, (1,)), plan.order(TABLES, (1,), every_row=True)
  assert everything[: len(claims)] == claims
  assert len(everything) == sum(len(table.rows) for table in TABLES.values())


def test_more_branches_a_second_pass_and_constraints_cost_more():
  def minutes(paper, row):
    return plan.minutes(TABLES[paper].row(row).training)

  assert minutes("distributed", "k4") > 2 * minutes("distributed", "k1")
  assert minutes("cyclical", "cyclical") > minutes("cyclical", "baseline")
  assert minutes("ccr_ccs", "bfan_both") > minutes("ccr_ccs", "bfan")
  assert minutes("ccr_ccs", "bfan_ensemble") < 1  # Nothing is trained.
