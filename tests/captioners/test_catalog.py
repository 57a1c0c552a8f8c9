import keras

from gcap_tf import config
from gcap_tf.captioners import catalog

NAMES = ["adaptive", "cyclical", "distributed", "gvd", "neuraltalk2", "updown"]


def test_knows_every_captioner():
  assert catalog.CAPTIONERS.names() == NAMES


def test_every_configuration_survives_json():
  for name in NAMES:
    cls = catalog.CAPTIONERS.get(name).Config
    options = cls(vocabulary_size=11, feature_size=5, global_size=3, num_labels=2)
    assert config.from_dict(cls, config.to_dict(options)) == options


def test_every_captioner_is_registered_for_keras_saving():
  for name in NAMES:
    cls = catalog.CAPTIONERS.get(name)
    assert keras.saving.get_registered_name(cls) == f"gcap_tf>{cls.__name__}"
