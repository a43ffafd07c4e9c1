//! The ABI: layout of the public structs, exported symbols, and the generated headers.

#[path = "../c_program/mod.rs"]
mod c_program;
// The headers are the same for all platforms, and cbindgen takes longer to compile than the other tests of this file.
#[cfg(not(any(windows, target_pointer_width = "32", target_endian = "big", target_env = "musl")))]
mod headers;
mod layout;
// The reader of ELF files is for 64-bit little-endian ones.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64", target_endian = "little"))]
mod symbols;

#[cfg(target_pointer_width = "64")]
use libblosc2_test_support::support;

/// The directory into which `scripts/abi7-headers.sh` has written the headers for the layout of SOVERSION 7.
#[cfg(target_pointer_width = "64")]
fn abi7_headers() -> std::path::PathBuf {
    static DONE: std::sync::Once = std::sync::Once::new();
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("include-abi7");
    DONE.call_once(|| {
        let status =
            std::process::Command::new(support::root().join("scripts/abi7-headers.sh")).arg(&dir).status();
        assert!(status.expect("bash").success());
    });
    dir
}
