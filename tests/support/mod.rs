//! Shared code of the tests that load libraries: loading, safe calls, random numbers, data, guard pages.
// Each crate that includes this module uses a part of it.
#![allow(dead_code)]

pub mod array;
pub mod auto_tuner;
#[cfg(unix)]
pub mod blosc1_reference;
pub mod byte_messages;
pub mod calls;
pub mod child;
pub mod data;
pub mod exported;
pub mod files;
pub mod fixtures;
#[cfg(unix)]
pub mod fork;
pub mod guard;
pub mod known_defects;
pub mod library;
pub mod memory;
pub mod mutants;
pub mod random;
pub mod sequences;
pub mod short_header;
pub mod super_chunk;
pub mod system;
pub mod user_back_ends;
pub mod verify;
pub mod watchdog;

use library::Library;
use std::path::Path;

/// Returns the directory of the repository: this module is compiled in the package of the tests and in that of the
/// benchmarks.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .ancestors()
        .find(|path| path.join("capi-tests").is_dir())
        .expect("the directory of the repository")
}

/// Returns both libraries, or `None` after printing that the test was skipped. With `BLOSC2_REQUIRE_REFERENCE=1` a
/// missing reference is a failure.
pub fn both_libraries() -> Option<(&'static Library, &'static Library)> {
    let Some(reference) = Library::reference() else {
        let required = std::env::var("BLOSC2_REQUIRE_REFERENCE").is_ok_and(|value| value != "0");
        assert!(!required, "no reference library (run scripts/fetch-reference.sh)");
        thread_local! {
            // Each test runs in its own thread, so the message appears once per test.
            static SAID: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
        }
        if !SAID.replace(true) {
            // Writes to stderr directly: the test runner captures the output of the print macros.
            use std::io::Write;
            let text = "SKIPPED: no reference library (run scripts/fetch-reference.sh)";
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        return None;
    };
    Some((Library::ours(), reference))
}

/// Returns whether our library changes frames on plain files atomically in this test run (`BLOSC2_DURABILITY`), so that
/// their bytes differ from those of the reference, and a failed call changes nothing.
pub fn has_atomic_changes() -> bool {
    std::env::var("BLOSC2_DURABILITY").is_ok_and(|level| level == "kill" || level == "power")
}

/// Returns all libraries: ours, and the reference if it has been fetched.
pub fn all_libraries() -> Vec<&'static Library> {
    match both_libraries() {
        Some((ours, reference)) => vec![ours, reference],
        None => vec![Library::ours()],
    }
}

/// Converts hexadecimal text to bytes; blanks are ignored.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8)
        .collect();
    assert!(digits.len().is_multiple_of(2), "an odd number of digits in {text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Converts bytes that a little-endian machine writes into those that this machine writes: on a big-endian machine, the
/// chunks at the offsets `chunks` have the flag BIGENDIAN in the last byte of their headers (frame.md 0).
pub fn written_here(mut bytes: Vec<u8>, chunks: &[usize]) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        chunks.iter().for_each(|at| bytes[at + 0x1f] |= 0x02);
    }
    bytes
}

/// Converts little-endian items of `size` bytes to the byte order of this machine.
pub fn native_items(mut bytes: Vec<u8>, size: usize) -> Vec<u8> {
    if cfg!(target_endian = "big") {
        bytes.chunks_mut(size).for_each(<[u8]>::reverse);
    }
    bytes
}

/// Returns the CRC-32 (IEEE) of `bytes`.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}
