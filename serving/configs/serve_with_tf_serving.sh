#!/bin/sh
# Serves exported versions with TensorFlow Serving: its binary if installed, else Docker.
#
#   serving/configs/serve_with_tf_serving.sh MODELS [GRPC_PORT] [REST_PORT]
#
# MODELS is the folder that holds captioner/<version>/. Then check the server with
#   python -m serving.contract.run --address=127.0.0.1:8500 --rest=127.0.0.1:8501
set -eu

models=${1:?usage: serve_with_tf_serving.sh MODELS [GRPC_PORT] [REST_PORT]}
grpc_port=${2:-8500}
rest_port=${3:-8501}
configs=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
models=$(CDPATH='' cd -- "$models" && pwd)
image=${TF_SERVING_IMAGE:-tensorflow/serving:2.19.0}

if [ ! -d "$models/captioner" ]; then
  echo "error: $models/captioner does not exist; export a model there first" >&2
  exit 1
fi

if command -v tensorflow_model_server >/dev/null 2>&1; then
  own=$(mktemp)
  trap 'rm -f "$own"' EXIT
  sed "s|\"/models/|\"$models/|" "$configs/models.config" >"$own"
  tensorflow_model_server \
    --port="$grpc_port" \
    --rest_api_port="$rest_port" \
    --model_config_file="$own" \
    --enable_batching=true \
    --batching_parameters_file="$configs/batching.config" \
    --monitoring_config_file="$configs/monitoring.config"
elif command -v docker >/dev/null 2>&1; then
  exec docker run --rm --init \
    --publish="127.0.0.1:$grpc_port:8500" \
    --publish="127.0.0.1:$rest_port:8501" \
    --volume="$models:/models:ro" \
    --volume="$configs:/configs:ro" \
    --entrypoint=/usr/bin/tensorflow_model_server \
    "$image" \
    --port=8500 \
    --rest_api_port=8501 \
    --model_config_file=/configs/models.config \
    --enable_batching=true \
    --batching_parameters_file=/configs/batching.config \
    --monitoring_config_file=/configs/monitoring.config
else
  echo "error: neither tensorflow_model_server nor docker is installed;" \
    "python -m serving.server has the same API" >&2
  exit 1
fi
