#!/bin/sh
# Stands for `cargo` in the scripts and commands that the tests run: builds in the profile and in the target directory of
# the test run, with the features of dependencies that `cargo test --workspace` selects. So nothing is built again after
# `cargo test --workspace`; a package alone selects fewer features, and Cargo has one place for both `libblosc2.so`.
# REAL_CARGO, REAL_ROOT, REAL_PROFILE and REAL_TARGET name the real program and the test run.
# The flags and the SOURCE_DATE_EPOCH of reproducible packages (scripts/shared/reproducible.sh, release-time.sh) would compile
# everything again: build scripts run again when this variable changes.
unset CARGO_ENCODED_RUSTFLAGS CFLAGS SOURCE_DATE_EPOCH
verb=$1
shift
case $verb in build | run) ;; *) echo "cargo $verb is not for this test" >&2; exit 1 ;; esac
package='' example=''
while [ $# -gt 0 ]; do
  case $1 in
    --) shift; break ;;
    --release | --quiet | --lib) shift ;;
    --profile | --manifest-path | --target-dir) shift 2 ;;
    -p | --package) package=$2; shift 2 ;;
    --example) example=$2; shift 2 ;;
    --features) [ -z "$2" ] || { echo "the features $2 are not for this test" >&2; exit 1; }; shift 2 ;;
    *) echo "the argument $1 of cargo is not for this test" >&2; exit 1 ;;
  esac
done
manifest=$REAL_ROOT/Cargo.toml
[ -z "$package" ] || "$REAL_CARGO" pkgid --quiet --manifest-path "$manifest" --package "$package" >/dev/null || exit
# `--test` selects the features of the dependencies of tests. The crate `blosc2` has the name of the library.
selected='--exclude blosc2-safe --lib --bins'
[ -z "$example" ] || selected="--example $example"
# shellcheck disable=SC2086 # The selection is words.
"$REAL_CARGO" build --quiet --manifest-path "$manifest" --profile "$REAL_PROFILE" --target-dir "$REAL_TARGET" \
  --workspace --test programs $selected || exit
[ "$verb" = run ] || exit 0
case $REAL_PROFILE in dev) built=$REAL_TARGET/debug ;; *) built=$REAL_TARGET/$REAL_PROFILE ;; esac
case $package:$example in
  blosc2-cli:) exec "$built/blosc2" "$@" ;;
  blosc2-safe:?*) exec "$built/examples/$example" "$@" ;;
  *) echo "the program of the package $package is not for this test" >&2; exit 1 ;;
esac
