//! Effects of environment variables and of the start of a process (abi.md 15, chunk.md 8 V13): every row in a
//! separate child process, which is this test executable.

use std::ffi::c_void;

use super::interface::to_optional_string;
use crate::support::calls::{Header, OwnedContext, Params, dparams, with_destination};
use crate::support::child::{test_again, test_name};
use crate::support::library::{Library, has_feature, path_of_reference};
use crate::support::{hex, written_here};

const CHILD_VARIABLE: &str = "BLOSC2_GOLDEN_CHILD";

/// Runs the test `name` in a child with one variable set, and returns its output.
fn run_in_child(name: &str, library: &str, variable: Option<(&str, &str)>) -> String {
    let mut command = test_again(name);
    command.env(CHILD_VARIABLE, library);
    if let Some((variable, value)) = variable {
        command.env(variable, value);
    }
    let output = command.output().expect("the child");
    let out = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{library}, {variable:?}: {}\n{out}\n{errors}", output.status);
    let report = out.lines().filter_map(|line| Some(line.split_once("REPORT ")?.1));
    report.collect::<Vec<_>>().join("\n")
}

/// Returns the library that the parent selected, if this is a child.
fn child_library() -> Option<Library> {
    match std::env::var(CHILD_VARIABLE).ok()?.as_str() {
        "reference" => Library::reference_uninitialised(),
        _ => Some(Library::ours_uninitialised()),
    }
}

/// Returns the names of our library, and of the reference if it is available.
fn libraries() -> Vec<&'static str> {
    let mut libraries = vec!["ours"];
    libraries.extend(path_of_reference().map(|_| "reference"));
    libraries
}

fn compress(
    library: &Library,
    clevel: i32,
    doshuffle: i32,
    typesize: i32,
    src: &[u8],
    destsize: usize,
) -> (i32, Vec<u8>) {
    // SAFETY: a source and a destination of their stated lengths.
    with_destination(destsize, |dest| unsafe {
        (library.blosc2_compress)(
            clevel,
            doshuffle,
            typesize,
            src.as_ptr().cast(),
            src.len() as i32,
            dest.as_mut_ptr().cast::<c_void>(),
            dest.len() as i32,
        )
    })
}

/// Returns one row of the matrix as a line of text.
fn matrix_row(library: &Library) -> String {
    let src: Vec<u8> = (0..5000i32).flat_map(i32::to_le_bytes).collect();
    let (rc, chunk) = compress(library, 5, 1, 4, &src, 40_000);
    let mut line = format!("{rc}");
    if rc > 0 {
        let short = chunk[2] & 5 != 5;
        let header = Header::parse(&chunk);
        line += &format!(
            " flags {:02x} typesize {} blocksize {}",
            header.flags, header.typesize, header.blocksize
        );
        if !short {
            line +=
                &format!(" filters {} {} codec {}", header.filters[4], header.filters[5], header.udcompcode);
        }
        // SAFETY: as in `compress`.
        let (decoded, dest) = with_destination(src.len(), |dest| unsafe {
            (library.blosc2_decompress)(
                chunk.as_ptr().cast(),
                rc,
                dest.as_mut_ptr().cast(),
                dest.len() as i32,
            )
        });
        assert!(decoded < 0 || dest == src);
        line += &format!(" decoded {decoded}");
    }
    // SAFETY: no arguments.
    unsafe {
        line += &format!(
            " compressor {} blocksize {} nthreads {}",
            to_optional_string((library.blosc1_get_compressor)()).unwrap_or("NULL".into()),
            (library.blosc1_get_blocksize)(),
            (library.blosc2_get_nthreads)()
        );
    }
    match OwnedContext::for_compression(library, Params { typesize: 4, ..Params::default() }.cparams()) {
        None => line += " no cctx",
        Some(context) => {
            let cparams = context.cparams();
            line += &format!(
                " cctx {} {} {} {} {} {} {:?}",
                cparams.compcode,
                cparams.clevel,
                cparams.typesize,
                cparams.nthreads,
                cparams.blocksize,
                cparams.splitmode,
                cparams.filters
            );
        }
    }
    line + &format!(" dctx {}", OwnedContext::for_decompression(library, dparams(1)).dparams().nthreads)
}

#[test]
fn environment_variables_change_results_as_documented() {
    if let Some(library) = child_library() {
        println!("\nREPORT {}", matrix_row(&library));
        return;
    }
    let usual = "flags 05 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded 20000";
    let after = "compressor blosclz blocksize 0 nthreads 1";
    let cctx = "cctx 0 5 4 1 0 4 [0, 0, 0, 0, 0, 1]";
    #[rustfmt::skip]
    let rows: Vec<(Option<(&str, &str)>, String)> = vec![
        (None, format!("467 {usual} {after} {cctx} dctx 1")),
        (Some(("BLOSC_CLEVEL", "abc")), format!("20032 flags 07 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded 20000 {after} cctx 0 0 4 1 0 4 [0, 0, 0, 0, 0, 1] dctx 1")),
        (Some(("BLOSC_CLEVEL", "99")), format!("-8 {after} cctx 0 99 4 1 0 4 [0, 0, 0, 0, 0, 1] dctx 1")),
        (Some(("BLOSC_SHUFFLE", "NOSHUFFLE")), format!("20040 flags 15 typesize 4 blocksize 20000 filters 0 0 codec 0 decoded 20000 {after} cctx 0 5 4 1 0 4 [0, 0, 0, 0, 0, 0] dctx 1")),
        (Some(("BLOSC_SHUFFLE", "BITSHUFFLE")), format!("264 flags 15 typesize 4 blocksize 20000 filters 0 2 codec 0 decoded 20000 {after} cctx 0 5 4 1 0 4 [0, 0, 0, 0, 0, 2] dctx 1")),
        (Some(("BLOSC_SHUFFLE", "shuffle")), format!("467 {usual} {after} {cctx} dctx 1")),
        (Some(("BLOSC_DELTA", "1")), format!("198 flags 0d typesize 4 blocksize 20000 filters 3 1 codec 0 decoded 20000 {after} cctx 0 5 4 1 0 4 [0, 0, 0, 0, 3, 1] dctx 1")),
        (Some(("BLOSC_TYPESIZE", "8")), format!("616 flags 05 typesize 8 blocksize 20000 filters 0 1 codec 0 decoded 20000 {after} cctx 0 5 8 1 0 4 [0, 0, 0, 0, 0, 1] dctx 1")),
        (Some(("BLOSC_COMPRESSOR", "zstd")), "386 flags 85 typesize 4 blocksize 20000 filters 0 1 codec 5 decoded 20000 compressor zstd blocksize 0 nthreads 1 cctx 5 5 4 1 0 4 [0, 0, 0, 0, 0, 1] dctx 1".into()),
        (Some(("BLOSC_COMPRESSOR", "ZSTD")), "-7 compressor NULL blocksize 0 nthreads 1 cctx 255 5 4 1 0 4 [0, 0, 0, 0, 0, 1] dctx 1".into()),
        (Some(("BLOSC_COMPRESSOR", "ndlz")), format!("467 {usual} {after} no cctx dctx 1")),
        (Some(("BLOSC_BLOCKSIZE", "4096")), "1642 flags 05 typesize 4 blocksize 4096 filters 0 1 codec 0 decoded 20000 compressor blosclz blocksize 4096 nthreads 1 cctx 0 5 4 1 4096 4 [0, 0, 0, 0, 0, 1] dctx 1".into()),
        (Some(("BLOSC_NTHREADS", "3")), format!("467 {usual} compressor blosclz blocksize 0 nthreads 3 cctx 0 5 4 3 0 4 [0, 0, 0, 0, 0, 1] dctx 3")),
        (Some(("BLOSC_NTHREADS", "0")), format!("467 flags 05 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded -12 {after} {cctx} dctx 1")),
        (Some(("BLOSC_NTHREADS", "65536")), format!("467 flags 05 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded -12 {after} {cctx} dctx 0")),
        (Some(("BLOSC_NTHREADS", "abc")), format!("467 flags 05 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded -12 {after} {cctx} dctx 1")),
        (Some(("BLOSC_SPLITMODE", "NEVER")), format!("495 flags 15 typesize 4 blocksize 20000 filters 0 1 codec 0 decoded 20000 {after} cctx 0 5 4 1 0 2 [0, 0, 0, 0, 0, 1] dctx 1")),
        (Some(("BLOSC_BLOSC1_COMPAT", "")), format!("513 flags 01 typesize 4 blocksize 20000 decoded 20000 {after} {cctx} dctx 1")),
        (Some(("BLOSC_NOLOCK", "")), format!("467 {usual} {after} {cctx} dctx 1")),
    ];
    for library in libraries() {
        for (variable, expected) in &rows {
            // A codec that is not part of the build counts as an unknown name.
            let expected = match variable {
                Some((_, "ndlz")) if !has_feature(library, "ndlz") => {
                    let unknown = rows.iter().find(|row| row.0 == Some(("BLOSC_COMPRESSOR", "ZSTD")));
                    &unknown.expect("the row of an unknown name").1
                }
                _ => expected,
            };
            let expected = match variable {
                // C-Blosc2 cuts the number of threads of a decompression context to 16 bits.
                Some((_, "65536")) if library == "ours" => expected.replace("dctx 0", "dctx 1"),
                // This library stores data whose coded form is not shorter (chunk.md 3.6).
                Some((_, "NOSHUFFLE")) if library == "ours" => {
                    expected.replace("20040 flags 15", "20032 flags 17")
                }
                _ => expected.clone(),
            };
            let got = run_in_child(test_name!(), library, *variable);
            assert_eq!(got, expected, "{library}: {variable:?}");
        }
    }
}

/// `blosc2_compress` with and without a 16-byte header (abi.md 15, chunk.md V13).
#[test]
fn blosc1_compat_writes_16_byte_headers() {
    if let Some(library) = child_library() {
        let numbers: Vec<u8> = (0..40u32).flat_map(u32::to_le_bytes).collect();
        let bytes: Vec<u8> = (0..64).collect();
        let set = |name: &std::ffi::CStr| {
            // SAFETY: a terminated name.
            assert!(unsafe { (library.blosc1_set_compressor)(name.as_ptr()) } >= 0);
        };
        let print = |what: &str, clevel, doshuffle, typesize, src: &[u8]| {
            let (rc, mut chunk) = compress(&library, clevel, doshuffle, typesize, src, 1000);
            assert!(rc > 0, "{what}: {rc}");
            chunk.truncate(rc as usize);
            // SAFETY: a source and a destination of their stated lengths.
            let (decoded, dest) = with_destination(src.len(), |dest| unsafe {
                (library.blosc2_decompress)(
                    chunk.as_ptr().cast(),
                    rc,
                    dest.as_mut_ptr().cast(),
                    dest.len() as i32,
                )
            });
            assert!(decoded == src.len() as i32 && dest == src, "{what}: {decoded}");
            let digits: String = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("\nREPORT {what} {digits}");
        };
        print("zeros", 5, 1, 4, &[0; 64]);
        print("plain", 0, 0, 1, &bytes);
        set(c"lz4");
        print("lz4", 5, 1, 4, &numbers);
        print("short", 5, 1, 4, &numbers[..16]);
        return;
    }
    let mut plain = hex("05 01 07 01 40 00 00 00 40 00 00 00 60 00 00 00");
    plain.extend([0; 16]);
    plain.extend(0..64);
    let plain = written_here(plain, &[0]);
    let mut plain_compat = hex("05 01 02 01 40 00 00 00 40 00 00 00 50 00 00 00");
    plain_compat.extend(0..64);
    // C-Blosc2 encodes the zeros in 8 bytes more than this library, which stores them (chunk.md 3.6).
    let mut stored_compat = hex("05 01 13 04 40 00 00 00 40 00 00 00 50 00 00 00");
    stored_compat.extend([0; 64]);
    let mut zeros_compat = hex("05 01 11 04 40 00 00 00 40 00 00 00 58 00 00 00 14 00 00 00 40 00 00 00");
    zeros_compat.extend([0; 64]);
    let lz4_compat = hex("05 01 21 04 a0 00 00 00 a0 00 00 00 6d 00 00 00
                          14 00 00 00 28 00 00 00 00 01 02 03 04 05 06 07
                          08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17
                          18 19 1a 1b 1c 1d 1e 1f 20 21 22 23 24 25 26 27
                          0b 00 00 00 1f 00 01 00 0f 50 00 00 00 00 00 0b
                          00 00 00 1f 00 01 00 0f 50 00 00 00 00 00 0b 00
                          00 00 1f 00 01 00 0f 50 00 00 00 00 00");
    let mut short_compat = hex("05 01 02 04 10 00 00 00 10 00 00 00 20 00 00 00");
    short_compat.extend((0..4u32).flat_map(u32::to_le_bytes));
    let zeros = hex(
        "05 01 15 04 40 00 00 00 40 00 00 00 20 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 10",
    );
    let zeros = written_here(zeros, &[0]);
    for library in libraries() {
        let name = test_name!();
        let usual = run_in_child(name, library, None);
        let compat = run_in_child(name, library, Some(("BLOSC_BLOSC1_COMPAT", "")));
        let line = |report: &str, what: &str| {
            let found = report.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
            hex(found.unwrap_or_else(|| panic!("{library}: no {what} in {report}")))
        };
        assert_eq!(line(&usual, "zeros"), zeros, "{library}");
        assert_eq!(line(&usual, "plain"), plain, "{library}");
        let zeros_compat = if library == "ours" { &stored_compat } else { &zeros_compat };
        assert_eq!(line(&compat, "zeros"), *zeros_compat, "{library}");
        assert_eq!(line(&compat, "plain"), plain_compat, "{library}");
        assert_eq!(line(&compat, "lz4"), lz4_compat, "{library}");
        assert_eq!(line(&compat, "short"), short_compat, "{library}");
    }
}

/// The lifecycle transcript of abi.md 15, without the calls that need the I/O back-ends.
#[test]
fn init_and_destroy_return_the_documented_values() {
    if let Some(library) = child_library() {
        let name = |pointer| to_optional_string(pointer).unwrap_or("NULL".into());
        let mut codec = blosc2::abi::blosc2_codec {
            compcode: 200,
            compname: c"foo".as_ptr().cast_mut(),
            complib: 200,
            version: 1,
            encoder: None,
            decoder: None,
        };
        // SAFETY: arguments are numbers, terminated strings, or a valid struct with a static name.
        let transcript = unsafe {
            let mut transcript = vec![(library.blosc2_free_resources)().to_string()];
            (library.blosc2_destroy)();
            (library.blosc2_init)();
            transcript.push((library.blosc2_compname_to_compcode)(c"zfp_acc".as_ptr()).to_string());
            transcript.extend([4, 0, -3].map(|n| (library.blosc2_set_nthreads)(n).to_string()));
            transcript.push((library.blosc2_get_nthreads)().to_string());
            transcript.push((library.blosc1_set_compressor)(c"lz4".as_ptr()).to_string());
            (library.blosc1_set_blocksize)(12_345);
            transcript.push((library.blosc2_register_codec)(&mut codec).to_string());
            transcript.push((library.blosc2_free_resources)().to_string());
            (library.blosc2_destroy)();
            transcript.push((library.blosc2_free_resources)().to_string());
            transcript.push((library.blosc2_get_nthreads)().to_string());
            transcript.push(name((library.blosc1_get_compressor)()));
            transcript.push((library.blosc1_get_blocksize)().to_string());
            transcript.push((library.blosc2_compname_to_compcode)(c"foo".as_ptr()).to_string());
            transcript.push((library.blosc1_set_compressor)(c"nonesuch".as_ptr()).to_string());
            transcript.push(name((library.blosc1_get_compressor)()));
            transcript.push((library.blosc1_set_compressor)(c"zfp_acc".as_ptr()).to_string());
            transcript.push(name((library.blosc1_get_compressor)()));
            transcript
        };
        println!("\nREPORT {}", transcript.join(" "));
        return;
    }
    for library in libraries() {
        let got = run_in_child(test_name!(), library, None);
        let (code, refusal) = if has_feature(library, "zfp") { (33, -7) } else { (-1, -1) };
        let expected = format!("-1 {code} 1 -12 -12 4 1 0 0 -1 4 lz4 12345 -1 -1 NULL {refusal} NULL");
        assert_eq!(got, expected, "{library}");
    }
}
