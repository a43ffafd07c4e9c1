//! The environment variables (blosc1.md 4): each with valid, invalid and empty values, in a first call with the variable
//! and a second one without it. Both libraries give the same results, except that (12.9, 12.14)
//!
//! - the number 22 is a number here, and text that is no number is ignored, not taken for 0;
//! - an unknown compressor changes nothing here; the reference stores it, and compresses nothing any more.

use super::work::content;
use crate::support::child::{test_again, test_name};
use crate::support::forked::{Outcome, in_forked_processes};
use crate::support::{Library, libraries, ours};
use std::ffi::{CStr, CString};
use std::time::Duration;

/// A variable and its value.
type Setting = (&'static CStr, &'static CStr);

const SETTINGS: [Setting; 75] = [
    (c"BLOSC_CLEVEL", c"0"),
    (c"BLOSC_CLEVEL", c"1"),
    (c"BLOSC_CLEVEL", c"9"),
    (c"BLOSC_CLEVEL", c"10"),
    (c"BLOSC_CLEVEL", c"5x"),
    (c"BLOSC_CLEVEL", c" 0"),
    (c"BLOSC_CLEVEL", c"-1"),
    (c"BLOSC_CLEVEL", c"abc"),
    (c"BLOSC_CLEVEL", c""),
    (c"BLOSC_CLEVEL", c"22"),
    (c"BLOSC_SHUFFLE", c"NOSHUFFLE"),
    (c"BLOSC_SHUFFLE", c"SHUFFLE"),
    (c"BLOSC_SHUFFLE", c"BITSHUFFLE"),
    (c"BLOSC_SHUFFLE", c"noshuffle"),
    (c"BLOSC_SHUFFLE", c"0"),
    (c"BLOSC_SHUFFLE", c""),
    (c"BLOSC_SHUFFLE", c"22"),
    (c"BLOSC_TYPESIZE", c"1"),
    (c"BLOSC_TYPESIZE", c"8"),
    (c"BLOSC_TYPESIZE", c"255"),
    (c"BLOSC_TYPESIZE", c"300"),
    (c"BLOSC_TYPESIZE", c"0"),
    (c"BLOSC_TYPESIZE", c"-3"),
    (c"BLOSC_TYPESIZE", c"abc"),
    (c"BLOSC_TYPESIZE", c""),
    (c"BLOSC_TYPESIZE", c"22"),
    (c"BLOSC_COMPRESSOR", c"blosclz"),
    (c"BLOSC_COMPRESSOR", c"lz4"),
    (c"BLOSC_COMPRESSOR", c"lz4hc"),
    (c"BLOSC_COMPRESSOR", c"snappy"),
    (c"BLOSC_COMPRESSOR", c"zlib"),
    (c"BLOSC_COMPRESSOR", c"zstd"),
    (c"BLOSC_COMPRESSOR", c"LZ4"),
    (c"BLOSC_COMPRESSOR", c"nonesuch"),
    (c"BLOSC_COMPRESSOR", c""),
    (c"BLOSC_COMPRESSOR", c"22"),
    (c"BLOSC_BLOCKSIZE", c"4096"),
    (c"BLOSC_BLOCKSIZE", c"100000"),
    (c"BLOSC_BLOCKSIZE", c"1"),
    (c"BLOSC_BLOCKSIZE", c"0"),
    (c"BLOSC_BLOCKSIZE", c"-1"),
    (c"BLOSC_BLOCKSIZE", c"abc"),
    (c"BLOSC_BLOCKSIZE", c""),
    (c"BLOSC_BLOCKSIZE", c"22"),
    (c"BLOSC_NTHREADS", c"1"),
    (c"BLOSC_NTHREADS", c"3"),
    (c"BLOSC_NTHREADS", c"300"),
    (c"BLOSC_NTHREADS", c"0"),
    (c"BLOSC_NTHREADS", c"-1"),
    (c"BLOSC_NTHREADS", c"abc"),
    (c"BLOSC_NTHREADS", c""),
    (c"BLOSC_NTHREADS", c"22"),
    (c"BLOSC_SPLITMODE", c"FORWARD_COMPAT"),
    (c"BLOSC_SPLITMODE", c"AUTO"),
    (c"BLOSC_SPLITMODE", c"NEVER"),
    (c"BLOSC_SPLITMODE", c"ALWAYS"),
    (c"BLOSC_SPLITMODE", c"auto"),
    (c"BLOSC_SPLITMODE", c"1"),
    (c"BLOSC_SPLITMODE", c""),
    (c"BLOSC_SPLITMODE", c"22"),
    (c"BLOSC_NOLOCK", c"1"),
    (c"BLOSC_NOLOCK", c"0"),
    (c"BLOSC_NOLOCK", c""),
    (c"BLOSC_NOLOCK", c"22"),
    (c"BLOSC_WARN", c"1"),
    (c"BLOSC_WARN", c"0"),
    (c"BLOSC_WARN", c"abc"),
    (c"BLOSC_WARN", c""),
    (c"BLOSC_WARN", c"22"),
    (c"BLOSC_PRINT_SHUFFLE_ACCEL", c"1"),
    (c"BLOSC_PRINT_SHUFFLE_ACCEL", c""),
    // These have no meaning in Blosc 1.
    (c"BLOSC_DELTA", c"1"),
    (c"BLOSC_BLOSC1_COMPAT", c"1"),
    (c"BLOSC_TRACE", c"1"),
    (c"BLOSC_INFO", c"1"),
];

/// Number of results of [`observe`].
const OBSERVATIONS: usize = 6;
const CONTENT_LEN: usize = 400_000;

fn set_variable((name, value): Setting) {
    // SAFETY: C strings; this process has one thread.
    assert_eq!(unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) }, 0);
}

fn unset_variable(name: &CStr) {
    // SAFETY: a C string; this process has one thread.
    assert_eq!(unsafe { libc::unsetenv(name.as_ptr()) }, 0);
}

/// Compresses, with lz4 unless a variable says otherwise. Returns the code, or flags, item size and block size of the
/// chunk, if its content is right.
fn compress(library: &Library) -> i64 {
    let content = content(CONTENT_LEN, 3);
    let chunk = match super::work::compress(library, &content) {
        Ok(chunk) => chunk,
        Err(code) => return i64::from(code),
    };
    if library.decompress(&chunk, CONTENT_LEN, 1).as_deref() != Ok(&content) {
        return -1000;
    }
    let blocksize = u32::from_le_bytes(chunk[8..12].try_into().expect("4 bytes"));
    // A Snappy chunk of the reference is often plain (blosc1.md 12.8).
    let ignored = if chunk[2] >> 5 == 2 { 0x02 } else { 0 };
    i64::from(chunk[2] & !ignored) << 40 | i64::from(chunk[3]) << 32 | i64::from(blocksize)
}

/// Returns the settings: the code of the compressor, the number of threads and the block size.
fn settings(library: &Library) -> i64 {
    // SAFETY: functions without arguments, and a name.
    unsafe {
        let name = (library.blosc_get_compressor)();
        let compressor = if name.is_null() { 15 } else { (library.blosc_compname_to_compcode)(name) };
        let nthreads = (library.blosc_get_nthreads)() as u16;
        let blocksize = (library.blosc_get_blocksize)();
        i64::from(compressor) << 56 | i64::from(nthreads) << 32 | i64::from(blocksize as u32)
    }
}

/// Returns result `number` of the calls with these variables, then without them.
fn observe(library: &Library, variables: &[Setting], number: usize) -> i64 {
    match number {
        0 => {
            // SAFETY: a name.
            unsafe { (library.blosc_set_compressor)(c"lz4".as_ptr()) };
            variables.iter().for_each(|&setting| set_variable(setting));
            compress(library)
        }
        1 => settings(library),
        2 => {
            variables.iter().for_each(|&(name, _)| unset_variable(name));
            compress(library)
        }
        3 => settings(library),
        4 => {
            // In a decompression alone.
            let content = content(CONTENT_LEN, 3);
            let chunk =
                library.compress((5, 1, 4), &content, CONTENT_LEN + 16, c"lz4", 0, 1).expect("a chunk");
            variables.iter().for_each(|&setting| set_variable(setting));
            match super::work::decompress(library, &chunk, CONTENT_LEN) {
                Ok(found) => i64::from(found == content),
                Err(code) => i64::from(code),
            }
        }
        _ => {
            let number = settings(library);
            variables.iter().for_each(|&(name, _)| unset_variable(name));
            number
        }
    }
}

fn observe_all(library: &Library, variables: &[Setting]) -> Vec<Outcome> {
    in_forked_processes(OBSERVATIONS, Duration::from_secs(30), |number| observe(library, variables, number))
}

/// Returns whether the value is text that is no number, where one is expected.
fn is_no_number((name, value): Setting) -> bool {
    let is_numeric =
        [c"BLOSC_CLEVEL", c"BLOSC_TYPESIZE", c"BLOSC_BLOCKSIZE", c"BLOSC_NTHREADS"].contains(&name);
    is_numeric && (value == c"abc" || value == c"")
}

#[test]
fn each_variable_has_the_effect_that_it_has_in_the_reference() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let default = observe_all(&ours, &[]);
    for setting in SETTINGS {
        let (name, value) = setting;
        let of_ours = observe_all(&ours, &[setting]);
        let of_reference = observe_all(&reference, &[setting]);
        let what = format!("{name:?} = {value:?}: {of_ours:x?}, reference {of_reference:x?}");
        let is_number_22 = value == c"22"
            && [c"BLOSC_CLEVEL", c"BLOSC_TYPESIZE", c"BLOSC_BLOCKSIZE", c"BLOSC_NTHREADS"].contains(&name);
        let is_unknown_codec =
            name == c"BLOSC_COMPRESSOR" && [c"LZ4", c"nonesuch", c"", c"22"].contains(&value);
        if is_no_number(setting) || is_number_22 || is_unknown_codec {
            continue;
        }
        if (name, value) == (c"BLOSC_SPLITMODE", c"ALWAYS") {
            // Ours are split only where readers expect it (blosc1.md 12.7): here they do.
            assert_ne!(of_ours[0], Outcome::Returned(-1000), "{what}");
        }
        assert_eq!(of_ours, of_reference, "{what}");
        let is_ignored =
            [c"BLOSC_DELTA", c"BLOSC_BLOSC1_COMPAT", c"BLOSC_TRACE", c"BLOSC_INFO"].contains(&name);
        assert!(!is_ignored || of_ours == default, "{what}");
    }
}

/// Text that is no number is ignored.
#[test]
fn text_that_is_no_number_is_ignored() {
    let ours = ours();
    let default = observe_all(&ours, &[]);
    for setting in SETTINGS.into_iter().filter(|&setting| is_no_number(setting)) {
        assert_eq!(observe_all(&ours, &[setting]), default, "{setting:?}");
    }
}

/// The reference ignores the number 22 (blosc1.md 12.14).
#[test]
fn the_number_22_is_a_number() {
    let ours = ours();
    let default = observe_all(&ours, &[]);
    let number = |outcomes: &[Outcome], at: usize| match outcomes[at] {
        Outcome::Returned(number) => number,
        other => panic!("{other}"),
    };
    let clevel = observe_all(&ours, &[(c"BLOSC_CLEVEL", c"22")]);
    assert_eq!((number(&clevel, 0), clevel[2]), (-10, default[2]));
    let typesize = observe_all(&ours, &[(c"BLOSC_TYPESIZE", c"22")]);
    assert_eq!((number(&typesize, 0) >> 32 & 0xFF, typesize[2]), (22, default[2]));
    // The settings stay.
    let blocksize = observe_all(&ours, &[(c"BLOSC_BLOCKSIZE", c"22")]);
    assert_eq!([1, 3].map(|at| number(&blocksize, at) & 0xFFFF_FFFF), [22; 2]);
    let nthreads = observe_all(&ours, &[(c"BLOSC_NTHREADS", c"22")]);
    assert_eq!([1, 3, 5].map(|at| number(&nthreads, at) >> 32 & 0xFFFF), [22; 3]);
    assert_eq!([0, 2].map(|at| nthreads[at]), [0, 2].map(|at| default[at]));
}

/// An unknown compressor or split mode is an error, and changes nothing, also not what other variables would change.
#[test]
fn unknown_names_are_errors_and_change_nothing() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let default = observe_all(&ours, &[]);
    for value in [c"LZ4", c"nonesuch", c"", c"22"] {
        let variables = [
            (c"BLOSC_COMPRESSOR", value),
            (c"BLOSC_NTHREADS", c"3"),
            (c"BLOSC_BLOCKSIZE", c"5000"),
            (c"BLOSC_SPLITMODE", c"NEVER"),
        ];
        let found = observe_all(&ours, &variables);
        assert_eq!(found[0], Outcome::Returned(-1), "{value:?}");
        assert_eq!(found[1..4], default[1..4], "{value:?}");
        let of_reference = observe_all(&reference, &variables[..1]);
        assert_eq!(of_reference[0], Outcome::Returned(-1), "{value:?}");
        assert_ne!(of_reference[1..4], default[1..4], "{value:?}: the reference has mended this");
    }
    let found = observe_all(&ours, &[(c"BLOSC_SPLITMODE", c"auto"), (c"BLOSC_COMPRESSOR", c"zlib")]);
    assert_eq!((found[0], &found[1..4]), (Outcome::Returned(-1), &default[1..4]));
}

/// Variables together: each has its effect, with and without `BLOSC_NOLOCK`.
#[test]
fn variables_have_their_effects_together() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let default = observe_all(&ours, &[]);
    let mut variables = vec![
        (c"BLOSC_CLEVEL", c"9"),
        (c"BLOSC_SHUFFLE", c"BITSHUFFLE"),
        (c"BLOSC_TYPESIZE", c"8"),
        (c"BLOSC_COMPRESSOR", c"zlib"),
        (c"BLOSC_BLOCKSIZE", c"20000"),
        (c"BLOSC_NTHREADS", c"3"),
        (c"BLOSC_SPLITMODE", c"NEVER"),
    ];
    let locked = observe_all(&ours, &variables);
    assert_eq!(locked, observe_all(&reference, &variables));
    variables.push((c"BLOSC_NOLOCK", c""));
    let unlocked = observe_all(&ours, &variables);
    assert_eq!(unlocked, observe_all(&reference, &variables));
    assert_eq!(locked, unlocked);
    assert!((0..4).all(|at| locked[at] != default[at]), "{locked:x?}");
}

/// Calls that fail, in each way, and calls that succeed.
fn failing_calls(library: &Library) {
    let content = content(CONTENT_LEN, 3);
    let mut chunk = vec![0_u8; CONTENT_LEN + 16];
    for (clevel, doshuffle, destsize) in
        [(10, 1, CONTENT_LEN), (5, 7, CONTENT_LEN), (5, 1, 10), (5, 1, CONTENT_LEN)]
    {
        for codec in [c"nonesuch", c"snappy"] {
            // SAFETY: buffers of these lengths.
            unsafe {
                let (src, dest) = (content.as_ptr().cast(), chunk.as_mut_ptr().cast());
                (library.blosc_compress)(clevel, doshuffle, 4, CONTENT_LEN, src, dest, destsize);
                (library.blosc_compress_ctx)(
                    clevel,
                    doshuffle,
                    4,
                    CONTENT_LEN,
                    src,
                    dest,
                    destsize,
                    codec.as_ptr(),
                    0,
                    500,
                );
            }
        }
    }
    let mut chunk = super::work::compress(library, &content).expect("a chunk");
    let damaged = chunk.len() - 50..chunk.len();
    chunk[damaged].fill(0xFF);
    chunk[20] ^= 0x55;
    assert!(super::work::decompress(library, &chunk, CONTENT_LEN).is_err());
    assert!(library.getitem(&chunk, 0, -5, 100).is_err());
    assert!(library.getitem(&chunk, 1 << 30, 5, 100).is_err());
    chunk[2] = 0xFF;
    assert!(super::work::decompress(library, &chunk, CONTENT_LEN).is_err());
    // A defect of the library.
    assert!(blosc2_core::blosc1::catch_panics(|| panic!("on purpose")).is_none());
}

/// Runs this test again with these variables. Returns what [`failing_calls`] writes to stderr.
fn stderr_of_child(test: &str, variables: &[(&str, &str)]) -> String {
    let mut child = test_again(test);
    child.env("BLOSC1_FAILING_CALLS", "1").env_remove("RUST_BACKTRACE");
    let output = child.envs(variables.iter().copied()).output().expect("a child");
    assert!(output.status.success(), "{}", output.status);
    let stdout = String::from_utf8_lossy(&output.stdout);
    // The harness prints its report.
    let foreign: Vec<&str> = stdout
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("running ") && !line.starts_with("test "))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nothing_is_printed_except_with_the_variable_for_warnings() {
    if std::env::var_os("BLOSC1_FAILING_CALLS").is_some() {
        return failing_calls(&ours());
    }
    let test = test_name!();
    let silent =
        [("BLOSC_TRACE", "1"), ("BLOSC_INFO", "1"), ("BLOSC_PRINT_SHUFFLE_ACCEL", "1"), ("BLOSC_WARN", "0")];
    assert_eq!(stderr_of_child(test, &[]), "");
    assert_eq!(stderr_of_child(test, &silent), "");
    let warnings = stderr_of_child(test, &[("BLOSC_WARN", "1")]);
    let lines: Vec<&str> = warnings.lines().collect();
    assert_eq!(lines.len(), 4, "{warnings}");
    assert!(lines.iter().all(|line| line.contains("destsize is 10, expected at least 16")), "{warnings}");
}

/// A value that is not in UTF-8 is an unknown name, or no number.
#[test]
fn values_that_are_no_utf8() {
    let ours = ours();
    let text = CString::new([0xFF, 0xFE]).expect("no NUL");
    let text: &'static CStr = Box::leak(text.into_boxed_c_str());
    let default = observe_all(&ours, &[]);
    for name in [c"BLOSC_CLEVEL", c"BLOSC_SHUFFLE", c"BLOSC_NTHREADS"] {
        assert_eq!(observe_all(&ours, &[(name, text)]), default, "{name:?}");
    }
    assert_eq!(observe_all(&ours, &[(c"BLOSC_COMPRESSOR", text)])[0], Outcome::Returned(-1));
}
