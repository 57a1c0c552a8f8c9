# bazel: data = ["//serving/configs:files"]
import pathlib
import subprocess

import pytest
import yaml
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

import serving
from serving import metrics, text_protos

CONFIGS = pathlib.Path(serving.__file__).parent / "configs"


def kubernetes():
  return list(yaml.safe_load_all((CONFIGS / "kubernetes.yaml").read_text()))


def parse_models(text):
  return text_format.Parse(text, model_server_config_pb2.ModelServerConfig())


def parse_batching(text):
  return text_format.Parse(text, text_protos.batching_message())


def parse_monitoring(text):
  return text_format.Parse(text, text_protos.monitoring_message())


def test_models_config_parses_and_keeps_two_versions():
  (entry,) = parse_models((CONFIGS / "models.config").read_text()).model_config_list.config
  assert (entry.name, entry.model_platform) == ("captioner", "tensorflow")
  assert entry.model_version_policy.latest.num_versions == 2


def test_batching_config_parses_and_pads_regions():
  found = parse_batching((CONFIGS / "batching.config").read_text())
  assert found.pad_variable_length_inputs
  assert list(found.allowed_batch_sizes) == sorted(found.allowed_batch_sizes)
  # TensorFlow Serving demands that the last allowed size is the largest batch.
  assert found.allowed_batch_sizes[-1] == found.max_batch_size.value


def test_monitoring_config_parses_and_has_our_path():
  found = parse_monitoring((CONFIGS / "monitoring.config").read_text())
  assert found.prometheus_config.enable
  assert found.prometheus_config.path == metrics.PATH


def test_kubernetes_manifests_carry_the_same_configurations():
  (config_map,) = [m for m in kubernetes() if m["kind"] == "ConfigMap"]
  for name, parse in (
    ("models.config", parse_models),
    ("batching.config", parse_batching),
    ("monitoring.config", parse_monitoring),
  ):
    assert parse(config_map["data"][name]) == parse((CONFIGS / name).read_text()), name


def test_kubernetes_manifests_refer_to_each_other():
  found = {manifest["kind"]: manifest for manifest in kubernetes()}
  pod = found["Deployment"]["spec"]["template"]
  container = pod["spec"]["containers"][0]
  for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
    assert probe in container
  assert {"requests", "limits"} <= set(container["resources"])
  assert found["Service"]["spec"]["selector"] == pod["metadata"]["labels"]
  target = found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
  assert target["name"] == found["Deployment"]["metadata"]["name"]
  mounted = {mount["name"] for mount in container["volumeMounts"]}
  assert mounted == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_compose_and_kubernetes_start_the_same_image_on_localhost_ports():
  compose = yaml.safe_load((CONFIGS / "docker-compose.yaml").read_text())
  service = compose["services"]["captioner"]
  (deployment,) = [m for m in kubernetes() if m["kind"] == "Deployment"]
  container = deployment["spec"]["template"]["spec"]["containers"][0]
  assert service["image"] == container["image"]
  assert all(port.startswith("127.0.0.1:") for port in service["ports"])
  script = (CONFIGS / "serve_with_tf_serving.sh").read_text()
  assert service["image"] in script


@pytest.mark.parametrize("arguments", [[], ["/no/such/folder"]])
def test_script_without_models_ends_with_a_reason(arguments):
  done = subprocess.run(
    ["sh", CONFIGS / "serve_with_tf_serving.sh", *arguments],
    capture_output=True,
    text=True,
    timeout=30,
  )
  assert done.returncode != 0
  assert done.stderr.strip()
