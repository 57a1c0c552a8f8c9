"""Tests of trainers/demo_steps.py; tests/trainers/test_demo.py runs the stations."""

import dataclasses

from trainers import demo_steps


def test_a_finished_step_is_kept_and_another_configuration_begins_anew(tmp_path):
  folder = tmp_path / "run"
  calls = []

  def work():
    folder.mkdir(exist_ok=True)
    calls.append(1)
    return {"cider": float(len(calls))}

  config = demo_steps.QUICK.student
  assert demo_steps._once(folder, config, work) == {"cider": 1.0}
  assert demo_steps._once(folder, config, work) == {"cider": 1.0}
  longer = dataclasses.replace(config, epochs=2)
  assert demo_steps._once(folder, longer, work) == {"cider": 2.0}
  assert len(calls) == 2


def test_the_students_differ_in_the_teacher_alone():
  config = demo_steps.DemoConfig()
  assert config.student.teacher == "" and config.student.losses.distill_weight == 0.0
  assert config.distill_weight > 0
