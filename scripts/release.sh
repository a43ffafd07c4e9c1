#!/bin/sh
# Makes all artefacts of a release from the commit of a clean working tree, in one directory.
#
#   scripts/release.sh [--out DIR] [--gpg KEYID] [--profile release] [--platform NAME]... [--no-platforms]
#
# Writes to DIR, by default target/release-VERSION:
#   - the packages of this system (scripts/package.sh), and the debug information of its libraries;
#   - the source archive, the source package of Debian, and a source RPM;
#   - the archives for other systems (scripts/package-platform.sh): of all, or of those that --platform names;
#   - a list of the components of each library and of the command (CycloneDX);
#   - SHA256SUMS, and with --gpg its signature by that key, SHA256SUMS.asc. gpg asks for the passphrase.
#
# Artefacts whose tool (dpkg-source, rpmbuild, cargo-cyclonedx) is not installed are left out: the last lines name them.
# Another profile of Cargo is for trials of this script.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out='' key='' profile=release platforms=all
while [ $# -gt 0 ]; do
  case $1 in
    --out | --gpg | --profile | --platform) [ $# -ge 2 ] || { echo "$1 needs a value" >&2; exit 2; } ;;
  esac
  case $1 in
    --out) out=$2; shift 2 ;;
    --gpg) key=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    --platform) [ "$platforms" != all ] || platforms=; platforms="$platforms $2"; shift 2 ;;
    --no-platforms) platforms=; shift ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; exit ;;
    *) echo "unknown argument $1" >&2; exit 2 ;;
  esac
done

say() { printf '=== %s\n' "$*"; }
fail() { echo "$*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/left-out"
left_out() { echo "left out: $*" >>"$work/left-out"; }

say "checks"
[ -z "$out" ] || { mkdir -p "$out"; out=$(cd "$out" && pwd); }
cd "$root"
changed=$(git status --porcelain)
[ -z "$changed" ] || fail "files are changed or not tracked:
$changed"
[ -z "$key" ] || gpg --list-secret-keys "$key" >/dev/null || fail "gpg has no secret key $key"
scripts/third-party-licenses.py --check
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
: "${out:=${CARGO_TARGET_DIR:-$root/target}/release-$version}"
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty"
. scripts/shared/release-time.sh

say "source archives"
name=blosc2-rs-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -n9 >"$out/$name.tar.gz"
tar -xzf "$out/$name.tar.gz" -C "$work"
if command -v dpkg-source >/dev/null; then
  (cd "$work" && dpkg-source --build "$name" >/dev/null)
  mv "$work"/*.dsc "$work"/*.tar.xz "$out/"
else
  left_out "the source package of Debian: there is no dpkg-source"
fi
if command -v rpmbuild >/dev/null; then
  rpmbuild -bs --nodeps --quiet --define "_topdir $work/rpm" --define "_sourcedir $out" --define "_buildhost localhost" \
    --define "use_source_date_epoch_as_buildtime 1" packaging/blosc2-rs.spec
  mv "$work/rpm/SRPMS"/*.src.rpm "$out/"
else
  left_out "the source RPM: there is no rpmbuild"
fi

say "components"
if cargo cyclonedx --version >/dev/null 2>&1; then
  # The tool writes beside the manifests.
  (cd "$work/$name" && cargo cyclonedx --quiet --format json --spec-version 1.5 --no-build-deps)
  for package in .:libblosc2 blosc1:libblosc remote:libblosc2_remote cli:blosc2; do
    # Without the number and the time of the run, and without the directory.
    python3 - "$work/$name/${package%:*}"/*.cdx.json "$work/$name" "$out/${package#*:}-$version.cdx.json" <<'PYTHON'
import json, sys
path, directory, out = sys.argv[1:]
document = json.loads(open(path).read().replace(directory, ""))
document.pop("serialNumber", None)
document["metadata"].pop("timestamp", None)
json.dump(document, open(out, "w"), indent=2, sort_keys=True)
PYTHON
  done
else
  left_out "the lists of components: there is no cargo-cyclonedx (cargo install cargo-cyclonedx)"
fi

say "packages of this system"
command -v dh >/dev/null || left_out "the Debian packages: there is no debhelper"
scripts/package.sh --out "$out" --profile "$profile" --with-remote --debug-dir "$work/debug"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - debug |
  gzip -n9 >"$out/debug-$version-$(uname -m).tar.gz"

[ "$platforms" != all ] || platforms=$(scripts/package-platform.sh --list | cut -d ' ' -f 1)
for platform in $platforms; do
  say "$platform"
  scripts/package-platform.sh "$platform" --out "$out" --profile "$profile"
done

say "checksums"
(cd "$out" && export LC_ALL=C && sha256sum -- *) >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" "$out/"
if [ -n "$key" ]; then
  gpg --local-user "$key" --armor --detach-sign "$out/SHA256SUMS"
else
  left_out "the signature: no key was given"
fi
cat "$out/SHA256SUMS" "$work/left-out"
say "the artefacts of $version are in $out"
