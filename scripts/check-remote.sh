#!/usr/bin/env bash
# Reads an array from nginx, and from servers of S3 (moto) and Azure (azurite), by the feature `remote` of the crate and by the command:
# compares the items with those of the file on disk, and prints the requests, the bytes and the times of a few reads, without and with latency. Uploads the
# file to the latter two, and appends to a directory there; the command writes files to them. A C program also reads it from nginx, by
# libblosc2_remote.so with this libblosc2 and with C-Blosc2.
#
#     scripts/check-remote.sh [--planes N] [--latency MILLISECONDS]... [--draw SEED] [--peers yes] [--servers "nginx moto azurite"]
#
# The array has N planes of 16 MiB (default 64), of which moto, which reads all of a file for each request, and azurite have at most 8.
# --draw reads drawn parts of 40 drawn arrays from nginx, too, by several settings of the client. --peers reads the same slices by
# python-blosc2, and from a copy as a sharded Zarr array by zarr-python on fsspec and by zarrs. Everything is below target/remote/.
# Installs nginx by apt-get, moto by pip and azurite by npm; a server that cannot be installed is SKIPPED. Builds the
# programs with the release profile; REMOTE_BUILT is a directory where Cargo has built them already, for example target/debug after
# `cargo test --workspace`.
set -euo pipefail
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."

planes=64 latencies= seed= peers= servers="nginx moto azurite"
while [ $# -gt 0 ]; do
  case $1 in
  --planes) planes=$2 ;;
  --latency) latencies="$latencies $2" ;;
  --draw) seed=$2 ;;
  --peers) peers=$2 ;;
  --servers) servers=$2 ;;
  *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
  shift 2
done

target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/remote
mkdir -p "$work/www"
work=$(cd "$work" && pwd)
built=${REMOTE_BUILT:-}
if [ -z "$built" ]; then
  cargo build --quiet --release -p blosc2-safe --features remote --example remote_slices
  cargo build --quiet --release -p libblosc2-rs -p libblosc2-remote -p blosc2-cli --lib --bins
  built=$target/release
fi
program=$built/examples/remote_slices
blosc2=$built/blosc2

# The C program, and directories in which the loader finds its libraries.
add_libraries() { # name, libblosc2.so
  mkdir -p "$work/$1"
  ln -sf "$(realpath "$2")" "$work/$1/libblosc2.so.9"
  ln -sf "$(realpath "$built/libblosc2_remote.so")" "$work/$1/libblosc2_remote.so.0"
}
add_libraries ours "$built/libblosc2.so"
reference=${BLOSC2_REFERENCE-$PWD/reference/blosc2/lib/libblosc2.so}
[ ! -f "$reference" ] || add_libraries reference "$reference"
"${CC:-cc}" -std=c99 -O2 -Wall -Wextra -Iinclude -Iremote/include remote/examples/remote_slices.c -o "$work/remote_slices" \
  -L"$built" -lblosc2_remote -lblosc2
read_in_c() { # url, path
  local libraries
  for libraries in ours reference; do
    if [ -d "$work/$libraries" ]; then
      printf '\nC, libblosc2: %s\n' $libraries
      LD_LIBRARY_PATH=$work/$libraries "$work/remote_slices" "$1" "$2"
    else
      echo "SKIPPED: reading with C-Blosc2, which is not there (scripts/fetch-reference.sh)"
    fi
  done
}
make_array() { # planes
  array=$work/www/array-$1.b2nd
  [ -f "$array" ] || { "$program" write "$work/new.b2nd" "$1" && mv "$work/new.b2nd" "$array"; }
}

# Runs verbs of the command with the URL $1 of the file $2, whose output must be that for the file.
command_reads() {
  local url=$1 file=$2 words
  printf 'the command:'
  while read -r words; do
    # shellcheck disable=SC2086 # The words of a command.
    cmp <("$blosc2" ${words//@/$url} | sed "s|$url|$file|") <("$blosc2" ${words//@/$file}) ||
      { echo "blosc2 ${words//@/$url} prints something else than for $file" >&2; return 1; }
    printf ' %s' "${words%% *}"
  done <<'END'
info --json @
slice @ 1,2,3:9
slice --csv @ -1,::512,::512
verify @
meta get @
END
  "$blosc2" diff "$url" "$file"
  "$blosc2" export --force --slice 1 "$url" "$work/plane.npy"
  "$blosc2" export --force --slice 1 "$file" "$work/expected.npy"
  cmp "$work/plane.npy" "$work/expected.npy"
  echo ' diff export'
  "$blosc2" slice --requests "$url" 1,2,3:9 2>&1 >/dev/null | tail -n 1
}

# Writes files below the URL $1 with the command, and compares them with those on disk.
command_writes() {
  local url=$1 status
  tail -c 20000000 "$array" >"$work/plain"
  "$blosc2" --quiet compress --force "$work/plain" --output "$work/plain.b2frame"
  "$blosc2" --quiet compress "$work/plain" --output "$url/plain.b2frame"
  "$blosc2" diff "$url/plain.b2frame" "$work/plain"
  "$blosc2" export --slice 1 "$array" "$url/plane.npy"
  "$blosc2" import "$url/plane.npy" "$url/plane.b2nd"
  "$blosc2" diff "$url/plane.b2nd" "$url/plane.npy"
  "$blosc2" --quiet recompress --codec lz4 "$url/plain.b2frame" --output "$url/lz4.b2frame"
  "$blosc2" --quiet decompress "$url/lz4.b2frame" --output "$url/again"
  "$blosc2" --quiet decompress "$url/lz4.b2frame" --output - | cmp - "$work/plain"
  "$blosc2" diff "$url/again" "$work/plain"
  # An existing file stays without --force, and nothing is there after a failure.
  status=0
  "$blosc2" compress README.md --output "$url/again" 2>/dev/null || status=$?
  [ $status = 1 ] && "$blosc2" diff "$url/again" "$work/plain"
  "$blosc2" --quiet compress --force "$work/plain" --output "$url/again"
  "$blosc2" diff "$url/again" "$work/plain.b2frame"
  status=0
  "$blosc2" info "$url/missing" 2>"$work/error" || status=$?
  [ $status = 1 ] && grep -qF "$url/missing: " "$work/error"
  ! grep -F secret "$work/error"
  echo 'the command: compress export import recompress decompress'
}

pids=
trap 'kill $pids 2>/dev/null || true' EXIT
wait_for() { # port
  for _ in $(seq 600); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
    sleep 0.1
  done
  echo "no server on port $1" >&2
  return 1
}
# Prints a port that is free now.
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Calls a function with the port of a proxy for each latency.
with_latency() { # title port function
  local latency port
  for latency in $latencies; do
    port=$(free_port)
    python3 capi-tests/delaying_proxy.py "$port" "$2" "$latency" &
    pids="$pids $!"
    wait_for "$port"
    printf '\n%s, %s ms of latency\n' "$1" "$latency"
    "$3" "$port"
  done
}

read_by_peers() { # port
  [ -n "$peers" ] || return 0
  local python=$work/peers/bin/python
  [ -x "$python" ] || { python3 -m venv "$work/peers" && "$work/peers/bin/pip" install --quiet blosc2==4.14.1 zarr==3.1.6 zarrs==0.2.3 fsspec==2026.9.0 aiohttp; }
  [ -d "$array.zarr" ] || "$python" capi-tests/remote_peers.py write "$array"
  "$python" capi-tests/remote_peers.py read "http://127.0.0.1:$1/${array##*/}" "$array" "$work/access.log"
}

nginx() {
  command -v nginx >/dev/null || { apt-get update -qq && apt-get install -qq -y --no-install-recommends nginx-light; } >/dev/null 2>&1 ||
    { echo "SKIPPED: reading from nginx, which cannot be installed here"; return; }
  make_array "$planes"
  local port
  port=$(free_port)
  cat >"$work/nginx.conf" <<END
worker_processes 1;
pid $work/nginx.pid;
error_log $work/nginx.log;
daemon off;
events {}
http {
  log_format bytes '\$body_bytes_sent';
  access_log $work/access.log bytes;
  client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
  sendfile on;
  keepalive_requests 100000;
  server { listen 127.0.0.1:$port; root $work/www; }
}
END
  chmod -R a+rX "$work/www"
  : >"$work/access.log"
  "$(type -P nginx)" -e "$work/nginx.log" -c "$work/nginx.conf" &
  pids="$pids $!"
  wait_for "$port"
  printf '\nnginx\n'
  read_through_nginx() { # port
    "$program" read "http://127.0.0.1:$1/${array##*/}" "$array"
    [ -z "$seed" ] || "$program" draw "http://127.0.0.1:$1" "$work/www" "$seed" 40
    read_by_peers "$1"
    read_in_c "http://127.0.0.1:$1/${array##*/}" "$array"
  }
  read_through_nginx "$port"
  with_latency nginx "$port" read_through_nginx
  command_reads "http://127.0.0.1:$port/${array##*/}" "$array"
}

# Changes and reads files below a URL of a store, whose server is named by an environment variable.
check_store() { # title URL variable port
  local url=$2 variable=$3
  "$program" change "$url" "$array"
  "$program" read "$url/file.b2nd" "$array"
  read_store() { # port
    env "$variable=http://127.0.0.1:$1" "$program" read "$url/file.b2nd" "$array"
  }
  with_latency "$1" "$4" read_store
  command_reads "$url/file.b2nd" "$array"
  command_writes "$url/command-$$"
}

moto() {
  [ -x "$work/python/bin/moto_server" ] || { python3 -m venv "$work/python" && "$work/python/bin/pip" install --quiet 'moto[server]==5.2.5'; } ||
    { echo "SKIPPED: reading from moto, which cannot be installed here"; return; }
  make_array $((planes < 8 ? planes : 8))
  local port
  port=$(free_port)
  "$work/python/bin/moto_server" -H 127.0.0.1 -p "$port" >"$work/moto.log" 2>&1 &
  pids="$pids $!"
  wait_for "$port"
  export AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1 AWS_ENDPOINT=http://127.0.0.1:$port AWS_ALLOW_HTTP=true
  "$work/python/bin/python" - <<'END'
import os
import boto3
store = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT"])
store.create_bucket(Bucket="bucket")
END
  printf '\nS3 (moto)\n'
  check_store S3 s3://bucket/some AWS_ENDPOINT "$port"
}

azurite() {
  command -v npm >/dev/null && { [ -x "$work/node_modules/.bin/azurite-blob" ] || npm install --silent --no-audit --no-fund --prefix "$work" azurite@3.37.0; } ||
    { echo "SKIPPED: azurite, which cannot be installed here"; return; }
  make_array $((planes < 8 ? planes : 8))
  local port
  port=$(free_port)
  "$work/node_modules/.bin/azurite-blob" --inMemoryPersistence --skipApiVersionCheck --blobHost 127.0.0.1 --blobPort "$port" >"$work/azurite.log" 2>&1 &
  pids="$pids $!"
  wait_for "$port"
  export AZURE_STORAGE_USE_EMULATOR=true AZURITE_BLOB_STORAGE_URL=http://127.0.0.1:$port AZURE_ALLOW_HTTP=true
  printf '\nAzure (azurite)\n'
  [ -x "$work/python/bin/python" ] || python3 -m venv "$work/python"
  "$work/python/bin/pip" install --quiet azure-storage-blob==12.26.0
  "$work/python/bin/python" - "$port" <<'END'
import sys
from azure.storage.blob import BlobServiceClient
# The key of the emulator, which its documentation gives.
key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
account = f"http://127.0.0.1:{sys.argv[1]}/devstoreaccount1"
BlobServiceClient(account, credential=key, api_version="2023-11-03").create_container("container")
END
  check_store Azure az://container/some AZURITE_BLOB_STORAGE_URL "$port"
}

for server in $servers; do
  "$server"
done
