#!/bin/sh
# Captions photographs with an exported captioner, without Python; build.sh comes first.
#
#   serving/java/caption.sh MODEL/1 photo.jpg ...
set -eu
folder=${GCAP_TENSORFLOW_JAVA:-${XDG_CACHE_HOME:-$HOME/.cache}/gcap_tf/tensorflow_java}
[ -d "$folder/classes" ] || { echo "error: run serving/java/build.sh first" >&2; exit 1; }
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-2}"
exec java -cp "$folder/classes:$folder/*" Caption "$@"
