//! Arguments for which the reference crashes, hangs, or gives a wrong result (blosc1.md 12), and names of codecs. The
//! reference runs in forked processes; what it does is printed.

use crate::support::forked::{Outcome, in_forked_process};
use crate::support::{CODECS, Library, Random, libraries};
use std::ffi::{CStr, c_char};
use std::ptr;
use std::time::Duration;

/// Time limit of a call of the reference. Calls that do not hang take less than a millisecond.
const LIMIT: Duration = Duration::from_secs(2);
/// The byte behind destinations, which must not change.
const CANARY: u8 = 0xA5;
/// Number of these bytes.
const CANARIES: usize = 4096;

fn numbers(count: u32) -> Vec<u8> {
    (0..count).flat_map(u32::to_le_bytes).collect()
}

/// Returns a buffer of `len` bytes and the canaries.
fn destination(len: usize) -> Vec<u8> {
    vec![CANARY; len + CANARIES]
}

fn has_canaries(dest: &[u8]) -> bool {
    dest.ends_with(&[CANARY; CANARIES])
}

/// Calls `blosc_compress_ctx` with codec lz4, level 5 and an automatic block size.
fn compress(
    library: &Library,
    (doshuffle, typesize): (i32, usize),
    (src, nbytes): (*const u8, usize),
    (dest, destsize): (*mut u8, usize),
    nthreads: i32,
) -> i32 {
    // SAFETY: the buffers are long enough for all sizes that a correct library uses.
    unsafe {
        (library.blosc_compress_ctx)(
            5,
            doshuffle,
            typesize,
            nbytes,
            src.cast(),
            dest.cast(),
            destsize,
            c"lz4".as_ptr(),
            0,
            nthreads,
        )
    }
}

/// A call, and the code that this library returns.
type Row = (&'static str, fn(&Library) -> i64, i64);

/// Calls that crash the reference. `void` functions count as 0.
const CRASHES: [Row; 18] = [
    ("compress_ctx, typesize 0", |library| typesize_zero(library, 1000), -10),
    ("compress_ctx, typesize 0, no content", |library| typesize_zero(library, 0), -10),
    ("compress_ctx, no source", |library| null_compress(library, 0), -10),
    ("compress_ctx, no destination", |library| null_compress(library, 1), -10),
    ("compress_ctx, no codec", |library| null_compress(library, 2), -10),
    ("compress, no source", |library| null_compress(library, 3), -10),
    ("decompress, no chunk", |library| null_decompress(library, false), -1),
    ("decompress, no destination", |library| null_decompress(library, true), -1),
    ("getitem, no chunk", |library| null_getitem(library, false), -1),
    ("getitem, no destination", |library| null_getitem(library, true), -1),
    ("set_compressor, no name", |library| null_name(library, 0), -1),
    ("compname_to_compcode, no name", |library| null_name(library, 1), -1),
    ("get_complib_info, no name", |library| null_name(library, 2), -1),
    ("compcode_to_compname, no place", |library| null_name(library, 3), 1),
    ("cbuffer_validate, no chunk", |library| null_information(library, 0), -1),
    ("cbuffer_sizes, no chunk", |library| null_information(library, 1), 0),
    ("cbuffer_metainfo, no chunk", |library| null_information(library, 2), 0),
    ("cbuffer_versions, no chunk", |library| null_information(library, 3), 0),
];

fn typesize_zero(library: &Library, nbytes: usize) -> i64 {
    let (src, mut dest) = (vec![7; nbytes], destination(nbytes + 16));
    i64::from(compress(library, (1, 0), (src.as_ptr(), nbytes), (dest.as_mut_ptr(), nbytes + 16), 1))
}

fn null_compress(library: &Library, which: u8) -> i64 {
    let (src, mut dest) = (numbers(100), destination(416));
    let src = if matches!(which, 0 | 3) { ptr::null() } else { src.as_ptr() };
    let dest = if which == 1 { ptr::null_mut() } else { dest.as_mut_ptr() };
    let codec = if which == 2 { ptr::null() } else { c"lz4".as_ptr() };
    // SAFETY: buffers of these sizes, or NULL.
    let rc = unsafe {
        if which == 3 {
            (library.blosc_compress)(5, 1, 4, 400, src.cast(), dest.cast(), 416)
        } else {
            (library.blosc_compress_ctx)(5, 1, 4, 400, src.cast(), dest.cast(), 416, codec, 0, 1)
        }
    };
    i64::from(rc)
}

/// Returns a chunk of 100 numbers.
fn chunk_of_numbers(library: &Library) -> Vec<u8> {
    library.compress((5, 1, 4), &numbers(100), 416, c"lz4", 0, 1).expect("a chunk")
}

fn null_decompress(library: &Library, has_chunk: bool) -> i64 {
    let chunk = chunk_of_numbers(library);
    let src = if has_chunk { chunk.as_ptr() } else { ptr::null() };
    // SAFETY: a chunk or NULL.
    i64::from(unsafe { (library.blosc_decompress_ctx)(src.cast(), ptr::null_mut(), 400, 1) })
}

fn null_getitem(library: &Library, has_chunk: bool) -> i64 {
    let chunk = chunk_of_numbers(library);
    let src = if has_chunk { chunk.as_ptr() } else { ptr::null() };
    // SAFETY: a chunk or NULL.
    i64::from(unsafe { (library.blosc_getitem)(src.cast(), 0, 10, ptr::null_mut()) })
}

fn null_name(library: &Library, which: u8) -> i64 {
    let none = ptr::null();
    // SAFETY: NULL, which this library allows.
    let rc = unsafe {
        match which {
            0 => (library.blosc_set_compressor)(none),
            1 => (library.blosc_compname_to_compcode)(none),
            2 => (library.blosc_get_complib_info)(none, ptr::null_mut(), ptr::null_mut()),
            _ => (library.blosc_compcode_to_compname)(1, ptr::null_mut()),
        }
    };
    i64::from(rc)
}

fn null_information(library: &Library, which: u8) -> i64 {
    let none = ptr::null();
    // SAFETY: NULL, which this library allows.
    unsafe {
        match which {
            0 => return i64::from((library.blosc_cbuffer_validate)(none, 100, ptr::null_mut())),
            1 => (library.blosc_cbuffer_sizes)(none, ptr::null_mut(), ptr::null_mut(), ptr::null_mut()),
            2 => (library.blosc_cbuffer_metainfo)(none, ptr::null_mut(), ptr::null_mut()),
            _ => (library.blosc_cbuffer_versions)(none, ptr::null_mut(), ptr::null_mut()),
        }
    }
    0
}

#[test]
fn calls_that_crash_the_reference_return_a_code() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    for (what, call, expected) in CRASHES {
        assert_eq!(call(&ours), expected, "{what}");
        let of_reference = in_forked_process(LIMIT, || call(&reference));
        println!("{what}: {expected}, reference {of_reference}");
        assert!(matches!(of_reference, Outcome::Signal(_)), "{what}: reference {of_reference}");
    }
    // SAFETY: as in `null_information`.
    assert!(unsafe { (ours.blosc_cbuffer_complib)(ptr::null()) }.is_null());
}

/// The sizes of a source and of a destination are checked before all other arguments, and before the source is read.
#[test]
fn sizes_out_of_range_give_no_chunk() {
    let Some((libraries, _guard)) = libraries() else { return };
    let src = numbers(10);
    for library in &libraries {
        let too_long = usize::try_from(1_u64 << 32).unwrap_or(usize::MAX);
        for nbytes in [i32::MAX as usize - 15, i32::MAX as usize, 1 << 31, too_long, usize::MAX] {
            for (clevel, codec) in [(5, c"lz4"), (10, c"nonesuch")] {
                let mut dest = destination(16);
                // SAFETY: neither buffer is used.
                let rc = unsafe {
                    (library.blosc_compress_ctx)(
                        clevel,
                        1,
                        4,
                        nbytes,
                        src.as_ptr().cast(),
                        dest.as_mut_ptr().cast(),
                        16,
                        codec.as_ptr(),
                        0,
                        1,
                    )
                };
                assert_eq!(rc, 0, "{}: {nbytes} bytes, level {clevel}, {codec:?}", library.name);
                assert!(has_canaries(&dest));
            }
        }
        for (clevel, codec, destsize, expected) in [
            (10, c"lz4", 15, 0),
            (10, c"nonesuch", 56, -10),
            (5, c"nonesuch", 56, -5),
            (5, c"nonesuch", 15, 0),
        ] {
            let rc = library.compress((clevel, 1, 4), &src, destsize, codec, 0, 1);
            let rc = rc.map_or_else(|code| code, |chunk| chunk.len() as i32);
            assert_eq!(rc, expected, "{}: level {clevel}, {codec:?}, {destsize} bytes", library.name);
        }
    }
}

/// The reference cuts the size of a destination to 32 bits (blosc1.md 12.2).
#[test]
fn destination_sizes_of_more_than_31_bits() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let sizes = [1 << 31, (1 << 31) + 2000, (1 << 32) - 1, 1 << 32, (1 << 32) + 2000, u64::MAX];
    let contents = [numbers(100_000), Random(0xD357).content(70_000), vec![5; 100]];
    for nthreads in [1, 4] {
        for content in &contents {
            let nbytes = content.len();
            for destsize in sizes.into_iter().filter_map(|size| usize::try_from(size).ok()) {
                let what = format!("{nbytes} bytes, destsize {destsize}, {nthreads} threads");
                let run = |library: &Library| {
                    let (mut dest, mut restored) = (destination(nbytes + 16), destination(nbytes));
                    let source = (content.as_ptr(), nbytes);
                    let len = compress(library, (1, 4), source, (dest.as_mut_ptr(), destsize), nthreads);
                    // The reference may return more than `nbytes + 16` bytes, for which there is space.
                    let is_chunk = (16..=nbytes as i32 + CANARIES as i32).contains(&len);
                    // SAFETY: a chunk that the library has just written, and space for its content.
                    let decoded = is_chunk.then(|| unsafe {
                        let place = restored.as_mut_ptr().cast();
                        (library.blosc_decompress_ctx)(dest.as_ptr().cast(), place, destsize, nthreads)
                    });
                    (len, decoded, dest, restored)
                };
                let (len, decoded, dest, restored) = run(&ours);
                assert!(len > 16 && len as usize <= nbytes + 16, "{what}: {len}");
                assert_eq!(decoded, Some(nbytes as i32), "{what}");
                assert!(restored[..nbytes] == content[..], "{what}: content");
                assert!(has_canaries(&dest) && has_canaries(&restored), "{what}: bytes behind a destination");
                let of_reference = in_forked_process(LIMIT, || {
                    let (len, decoded, ..) = run(&reference);
                    i64::from(decoded.unwrap_or(-100)) << 32 | i64::from(len as u32)
                });
                if let (Outcome::Returned(codes), true) = (of_reference, nthreads == 1) {
                    println!("{what}: chunk {len}, reference {}, then {}", codes as i32, codes >> 32);
                }
            }
        }
    }
}

/// The reference cuts item sizes to 32 bits (blosc1.md 12.3).
#[test]
fn item_sizes_of_any_number_of_bits() {
    let Some(([ours, reference], _guard)) = libraries() else { return };
    let content = numbers(20_000);
    let nbytes = content.len();
    let run = |library: &Library, doshuffle: i32, typesize: usize| {
        let (mut dest, mut restored) = (destination(nbytes + 16), destination(nbytes));
        let source = (content.as_ptr(), nbytes);
        let len = compress(library, (doshuffle, typesize), source, (dest.as_mut_ptr(), nbytes + 16), 1);
        if len > 0 {
            // SAFETY: the chunk that was just written, and space for its content.
            let decoded = unsafe {
                let place = restored.as_mut_ptr().cast();
                (library.blosc_decompress_ctx)(dest.as_ptr().cast(), place, nbytes, 1)
            };
            assert_eq!(decoded, nbytes as i32, "typesize {typesize}, shuffle {doshuffle}");
        }
        assert!(has_canaries(&dest) && has_canaries(&restored));
        let is_right = restored[..nbytes] == content[..];
        (len, dest[3], is_right)
    };
    let typesizes = [0, 1, 255, 256, 1 << 31, (1 << 32) - 5, 1 << 32, (1 << 32) + 4, u64::MAX];
    for typesize in typesizes.into_iter().filter_map(|size| usize::try_from(size).ok()) {
        for doshuffle in 0..=2 {
            let (len, stored, is_right) = run(&ours, doshuffle, typesize);
            if typesize == 0 {
                assert_eq!(len, -10, "shuffle {doshuffle}");
            } else {
                let expected = if typesize > 255 { 1 } else { typesize as u8 };
                assert!(len > 16 && is_right && stored == expected, "{typesize}, shuffle {doshuffle}: {len}");
            }
            // The last bit says whether the content is right.
            let of_reference = in_forked_process(LIMIT, || {
                let (len, stored, is_right) = run(&reference, doshuffle, typesize);
                (i64::from(len) << 8 | i64::from(stored)) << 1 | i64::from(is_right)
            });
            match of_reference {
                Outcome::Returned(number) => {
                    let (is_right, stored) = (number & 1 != 0, (number >> 1) as u8);
                    let is_same =
                        len > 0 && is_right && stored == if typesize > 255 { 1 } else { typesize as u8 };
                    assert!(
                        is_same || typesize > 256,
                        "typesize {typesize}, shuffle {doshuffle}: {number:#x}"
                    );
                    println!(
                        "typesize {typesize}, shuffle {doshuffle}: reference stores {stored}, right: {is_right}"
                    );
                }
                other => println!("typesize {typesize}, shuffle {doshuffle}: reference: {other}"),
            }
        }
    }
}

/// The longest source; it needs 6 GiB of memory.
#[test]
fn the_longest_source() {
    if std::env::var_os("BLOSC1_LARGE").is_none() {
        println!("not run: set BLOSC1_LARGE, with 6 GiB of free memory");
        return;
    }
    let Some(([ours, _], _guard)) = libraries() else { return };
    let nbytes = i32::MAX as usize - 16;
    let (src, mut dest) = (vec![0_u8; nbytes], vec![0_u8; nbytes + 16]);
    for (clevel, is_plain) in [(0, true), (1, false)] {
        // SAFETY: buffers of these lengths.
        let len = unsafe {
            (ours.blosc_compress_ctx)(
                clevel,
                1,
                4,
                nbytes,
                src.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                i32::MAX as usize,
                c"lz4".as_ptr(),
                0,
                2,
            )
        };
        assert_eq!(len == i32::MAX, is_plain, "level {clevel}: {len}");
        let mut restored = vec![1_u8; nbytes];
        // SAFETY: the chunk that was just written, and space for its content.
        let decoded = unsafe {
            (ours.blosc_decompress_ctx)(dest.as_ptr().cast(), restored.as_mut_ptr().cast(), nbytes, 2)
        };
        assert_eq!(decoded, nbytes as i32, "level {clevel}");
        assert!(restored.iter().all(|&byte| byte == 0), "level {clevel}");
    }
}

/// Returns the C string at `text`, or `None` for NULL.
fn text_at(text: *const c_char) -> Option<String> {
    // SAFETY: NULL or a C string.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

#[test]
fn names_and_codes_of_codecs_are_equal() {
    let Some((libraries, _guard)) = libraries() else { return };
    for code in (-2..9).chain([i32::MIN, i32::MAX]) {
        let found = libraries.each_ref().map(|library| {
            let mut name = c"unchanged".as_ptr();
            // SAFETY: a place for a pointer.
            let rc = unsafe { (library.blosc_compcode_to_compname)(code, &mut name) };
            (rc, text_at(name))
        });
        assert_eq!(found[0], found[1], "code {code}");
    }
    for name in CODECS.into_iter().chain([c"", c"LZ4", c"lz4 ", c"lz", c"nonesuch"]) {
        let found = libraries.each_ref().map(|library| {
            let (mut complib, mut version) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: a name, and places for pointers to memory that this function frees.
            unsafe {
                let code = (library.blosc_compname_to_compcode)(name.as_ptr());
                let rc = (library.blosc_get_complib_info)(name.as_ptr(), &mut complib, &mut version);
                let only_code =
                    (library.blosc_get_complib_info)(name.as_ptr(), ptr::null_mut(), ptr::null_mut());
                let texts = (text_at(complib), text_at(version));
                libc::free(complib.cast());
                libc::free(version.cast());
                assert_eq!(rc, only_code, "{name:?}");
                if let (Some(version), true) = (&texts.1, library.is_ours()) {
                    let is_number = version.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
                    assert!(is_number && version.contains('.'), "{name:?} has version {version}");
                }
                (code, rc, texts.0, texts.1.is_some())
            }
        });
        assert_eq!(found[0], found[1], "{name:?}");
    }
    // SAFETY: no arguments.
    let lists = libraries.each_ref().map(|library| text_at(unsafe { (library.blosc_list_compressors)() }));
    assert_eq!(lists[0], lists[1]);
    // SAFETY: no arguments.
    let versions =
        libraries.each_ref().map(|library| text_at(unsafe { (library.blosc_get_version_string)() }));
    assert_eq!(versions[0], versions[1]);
}
