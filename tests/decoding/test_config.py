from gcap_tf import config as configs
from gcap_tf.decoding import config


def test_options_survive_json():
  options = config.DecodeConfig(method="beam", bad_endings=(3, 5), length_alpha=0.5)
  assert configs.from_dict(config.DecodeConfig, configs.to_dict(options)) == options
