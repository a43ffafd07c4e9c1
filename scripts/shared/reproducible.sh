# Sourced in the root of the repository. Sets the flags of the compilers with which the libraries contain no directory of
# this machine: neither that of the sources, nor those of Cargo and of the toolchain. Flags in RUSTFLAGS are kept, those in
# CFLAGS are not.
# shellcheck shell=sh

# Adds the flags that replace directories in file names. Of those that fit, the last one is used.
replace_directories() { # directory=replacement...
  separator=$(printf '\037')
  flags=$(printf '%s' "${RUSTFLAGS:-}" | tr -s ' ' "$separator") CFLAGS=
  for directory; do
    flags=${flags:+$flags$separator}--remap-path-prefix=$directory
    # The cc crate separates flags at spaces.
    case $directory in *' '*) ;; *) CFLAGS="$CFLAGS -ffile-prefix-map=$directory" ;; esac
  done
  export CARGO_ENCODED_RUSTFLAGS="$flags" CFLAGS
}

replace_directories "$PWD=/blosc2-rs" "${CARGO_TARGET_DIR:-$PWD/target}=/blosc2-rs/target" "${CARGO_HOME:-$HOME/.cargo}=/cargo" \
  "$(rustc --print sysroot)/lib/rustlib/src/rust=/rustc/$(rustc -vV | sed -n 's/^commit-hash: //p')"
