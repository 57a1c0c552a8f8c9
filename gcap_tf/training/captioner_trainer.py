"""What trainers of captioners share: validation by the CIDEr of greedy captions."""

from typing import Any

from gcap_tf.captioners import base
from gcap_tf.evaluation import caption_validation, validation_pictures
from gcap_tf.training import contract


class CaptionerTrainer(contract.Trainer):
  """Validates a captioner, and shows captions and attention in TensorBoard.

  Args:
    model: any captioner.
    validation: scores it on the validation split; None gives no figures.
  """

  best_metric = "cider"

  def __init__(
    self, model: base.Captioner, validation: caption_validation.Validation | None = None
  ):
    self.model, self._validation = model, validation

  def evaluate(self) -> dict[str, float]:
    return self._validation() if self._validation else {}

  def pictures(self) -> dict[str, Any]:
    if self._validation is None:
      return {}
    return validation_pictures.draw_answers(self._validation.answers, self._validation.split)

  def texts(self) -> dict[str, str]:
    if self._validation is None:
      return {}
    table = validation_pictures.caption_table(self._validation.answers, self._validation.split)
    return {"captions": table}
