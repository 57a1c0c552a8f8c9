#!/bin/sh
# Fetches TensorFlow's Java libraries (170 MB, once) and compiles Caption.java against them.
#
#   apt install openjdk-17-jdk-headless curl
#   serving/java/build.sh
#
# The libraries and the classes go to $GCAP_TENSORFLOW_JAVA, else to the user's cache folder.
# $MAVEN_REPOSITORY names another repository than Maven Central. Every file is checked.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${GCAP_TENSORFLOW_JAVA:-${XDG_CACHE_HOME:-$HOME/.cache}/gcap_tf/tensorflow_java}
repository=${MAVEN_REPOSITORY:-https://repo.maven.apache.org/maven2}
command -v javac >/dev/null || { echo "error: javac is missing: apt install openjdk-17-jdk-headless" >&2; exit 1; }
mkdir -p "$folder/classes"
while read -r sum path; do
  jar=$folder/${path##*/}
  if [ ! -f "$jar" ]; then
    echo "Fetching ${path##*/}"
    curl --fail --silent --show-error --location --output "$jar.partial" "$repository/$path"
    echo "$sum  $jar.partial" | sha256sum --check --quiet - ||
      { rm -f "$jar.partial"; echo "error: $path arrived damaged; not kept" >&2; exit 1; }
    mv "$jar.partial" "$jar"
  fi
done <"$here/jars.txt"
javac -d "$folder/classes" -cp "$folder/*" "$here/Caption.java"
echo "$folder: ready; serving/java/caption.sh MODEL/1 photo.jpg"
