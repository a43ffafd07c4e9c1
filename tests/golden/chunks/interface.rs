//! Fixed results of the functions around the chunk: constructors, inspectors, names, texts, defaults, and the
//! arguments of prefilters and postfilters (abi.md 2.10, 5.2, 15).

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::Mutex;

use blosc2::abi::{CBool, blosc2_postfilter_params, blosc2_prefilter_params};

use super::{assert_hex, params_with_typesize};
use crate::support::calls::{OwnedContext, Params, Special, dparams, special_chunk, with_destination};
use crate::support::library::{Library, has_feature};
use crate::support::{all_libraries, hex};

/// Converts static text of a library to a string; returns `None` for NULL.
pub fn to_optional_string(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the library returned a terminated string.
    Some(unsafe { CStr::from_ptr(pointer) }.to_str().expect("ASCII").to_string())
}

#[test]
fn special_chunk_constructors_match_the_vectors() {
    let tail = |flags: u8| {
        let mut chunk = hex("05 01 05 04 90 01 00 00 90 01 00 00 20 00 00 00");
        chunk.extend([0; 15]);
        chunk.push(flags);
        chunk
    };
    for library in all_libraries() {
        let make = |special, nbytes, destsize| {
            special_chunk(library, &params_with_typesize(4), special, nbytes, destsize)
        };
        assert_hex(library, "zeros", &make(Special::Zeros, 400, 32).expect("zeros"), &tail(0x10));
        assert_hex(library, "nans", &make(Special::Nans, 400, 32).expect("nans"), &tail(0x20));
        assert_hex(library, "uninit", &make(Special::Uninit, 400, 32).expect("uninit"), &tail(0x40));
        let mut expected = tail(0x30);
        expected[12] = 0x24;
        expected.extend([4, 3, 2, 1]);
        let value = make(Special::Value(&[4, 3, 2, 1]), 400, 36).expect("value");
        assert_hex(library, "value", &value, &expected);
        assert_eq!(make(Special::Zeros, 5, 100), Err(-3), "{}", library.name);
        assert_eq!(make(Special::Zeros, 400, 31), Err(-3), "{}", library.name);
        assert_eq!(make(Special::Value(&[0; 4]), 400, 35), Err(-3), "{}", library.name);
        assert_eq!(make(Special::Zeros, 0, 32).map(|chunk| chunk.len()), Ok(32), "{}", library.name);
        let level_10 = Params { clevel: 10, ..params_with_typesize(4) };
        assert_eq!(special_chunk(library, &level_10, Special::Zeros, 400, 100), Err(-8), "{}", library.name);
    }
}

#[test]
fn chunk_inspectors_return_the_documented_values() {
    for library in all_libraries() {
        let good = special_chunk(library, &params_with_typesize(4), Special::Value(&[4, 3, 2, 1]), 400, 36)
            .expect("a chunk");
        let bad = vec![0u8; 16];
        for (chunk, ok) in [(&good, true), (&bad, false)] {
            let at = chunk.as_ptr().cast();
            let (mut nbytes, mut cbytes, mut blocksize) = (-1, -1, -1);
            let (mut a, mut b, mut c) = (77usize, 77usize, 77usize);
            let (mut size, mut typesize, mut flags, mut version, mut versionlz) =
                (77usize, 77usize, -1, -1, -1);
            // SAFETY: a header, and valid out-pointers or NULL where that is allowed.
            unsafe {
                let rc = (library.blosc2_cbuffer_sizes)(at, &mut nbytes, &mut cbytes, &mut blocksize);
                let expected = if ok { (0, 400, 36, 400) } else { (-11, 0, 0, 0) };
                assert_eq!((rc, nbytes, cbytes, blocksize), expected, "{}", library.name);
                let rc =
                    (library.blosc2_cbuffer_sizes)(at, ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
                assert_eq!(rc, expected.0, "{}", library.name);
                (library.blosc1_cbuffer_sizes)(at, &mut a, &mut b, &mut c);
                assert_eq!((a, b, c), (expected.1 as usize, expected.2 as usize, expected.3 as usize));
                (library.blosc1_cbuffer_metainfo)(at, &mut typesize, &mut flags);
                assert_eq!((typesize, flags), if ok { (4, 5) } else { (0, 0) }, "{}", library.name);
                (library.blosc2_cbuffer_versions)(at, &mut version, &mut versionlz);
                assert_eq!((version, versionlz), if ok { (5, 1) } else { (0, 0) }, "{}", library.name);
                let name = to_optional_string((library.blosc2_cbuffer_complib)(at));
                assert_eq!(name.as_deref(), ok.then_some("BloscLZ"), "{}", library.name);
                let rc = (library.blosc1_cbuffer_validate)(at, chunk.len(), &mut size);
                assert_eq!((rc, size), if ok { (0, 400) } else { (-11, 0) }, "{}", library.name);
                let rc = (library.blosc1_cbuffer_validate)(at, 15, &mut size);
                assert_eq!((rc, size), (-6, 0), "{}", library.name);
                let rc = (library.blosc1_cbuffer_validate)(at, 35, &mut size);
                assert_eq!((rc, size), (-11, 0), "{}", library.name);
            }
        }
        let names = [
            (0x05, Some("BloscLZ")),
            (0x25, Some("LZ4")),
            (0x65, Some("Zlib")),
            (0x85, Some("Zstd")),
            (0x45, None),
            (0xA5, None),
        ];
        for (flags, expected) in names {
            let mut chunk = good.clone();
            chunk[2] = flags;
            // SAFETY: a header.
            let name = to_optional_string(unsafe { (library.blosc2_cbuffer_complib)(chunk.as_ptr().cast()) });
            assert_eq!(name.as_deref(), expected, "{}: flags {flags:02x}", library.name);
        }
    }
}

#[test]
fn error_string_returns_the_documented_texts() {
    let texts = [
        "Generic failure",
        "Bad stream",
        "Invalid data",
        "Memory alloc/realloc failure",
        "Not enough space to read",
        "Not enough space to write",
        "Codec not supported",
        "Invalid parameter supplied to codec",
        "Codec dictionary error",
        "Version not supported",
        "Invalid value in header",
        "Invalid parameter supplied to function",
        "File read failure",
        "File write failure",
        "File open failure",
        "Not found",
        "Bad run length encoding",
        "Filter pipeline error",
        "Chunk insert failure",
        "Chunk append failure",
        "Chunk update failure",
        "Sizes larger than 2gb not supported",
        "Super-chunk copy failure",
        "Wrong type for frame",
        "File truncate failure",
        "Thread or thread context creation failure",
        "Postfilter failure",
        "Special frame failure",
        "Special super-chunk failure",
        "IO plugin error",
        "Remove file failure",
        "Pointer is null",
        "Invalid index",
        "Metalayer has not been found",
        "Maximum buffersize exceeded",
        "Tuner failure",
        "Frame lock failure",
    ];
    for library in all_libraries() {
        for code in -40..=3 {
            // SAFETY: takes a number, returns static text.
            let pointers = [0, 1].map(|_| unsafe { (library.blosc2_error_string)(code) });
            assert_eq!(pointers[0], pointers[1]);
            let expected = if code < 0 { texts.get(-code as usize - 1) } else { None };
            let expected = expected.copied().unwrap_or("Unknown error");
            assert_eq!(
                to_optional_string(pointers[0]).as_deref(),
                Some(expected),
                "{}: {code}",
                library.name
            );
        }
    }
}

#[test]
fn codec_names_and_codes_match_the_table() {
    let table = [
        (0, "blosclz"),
        (1, "lz4"),
        (2, "lz4hc"),
        (4, "zlib"),
        (5, "zstd"),
        (32, "ndlz"),
        (33, "zfp_acc"),
        (34, "zfp_prec"),
        (35, "zfp_rate"),
        (36, "openhtj2k"),
        (37, "grok"),
        (38, "openzl"),
        (39, "j2k"),
        (40, "htj2k"),
    ];
    for library in all_libraries() {
        // Codecs with ids from 160 on are registered by other tests.
        let table = table.into_iter().filter(|entry| match entry.0 {
            32 => has_feature(library.name, "ndlz"),
            33..=35 => has_feature(library.name, "zfp"),
            _ => true,
        });
        for code in -2..160 {
            let mut name = c"?".as_ptr();
            // SAFETY: a valid out-pointer.
            let rc = unsafe { (library.blosc2_compcode_to_compname)(code, &mut name) };
            let expected = table.clone().find(|entry| entry.0 == code).map(|entry| entry.1);
            assert_eq!(to_optional_string(name).as_deref(), expected, "{}: {code}", library.name);
            assert_eq!(rc, if expected.is_some() { code } else { -1 }, "{}: {code}", library.name);
        }
        let unknown = ["snappy", "", "LZ4", "lz4 "].map(|name| (-1, name));
        for (code, name) in table.clone().chain(unknown) {
            let name = std::ffi::CString::new(name).expect("no NUL");
            // SAFETY: a terminated string.
            let rc = unsafe { (library.blosc2_compname_to_compcode)(name.as_ptr()) };
            assert_eq!(rc, code, "{}: {name:?}", library.name);
        }
        for (name, code, complib) in [
            (c"blosclz", 0, "BloscLZ"),
            (c"lz4", 1, "LZ4"),
            (c"lz4hc", 1, "LZ4"),
            (c"zlib", 3, "Zlib"),
            (c"zstd", 4, "Zstd"),
            (c"ndlz", 32, "ndlz"),
            (c"zfp_rate", 35, "zfp_rate"),
        ] {
            if code >= 32 && !table.clone().any(|entry| entry.0 == code) {
                continue;
            }
            let (mut lib, mut version) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: valid out-pointers; the caller frees both strings.
            unsafe {
                let rc = (library.blosc2_get_complib_info)(name.as_ptr(), &mut lib, &mut version);
                assert_eq!(
                    (rc, to_optional_string(lib).as_deref()),
                    (code, Some(complib)),
                    "{}: {name:?}",
                    library.name
                );
                let version_text = to_optional_string(version).expect("a version");
                let known = code < 32;
                assert_eq!(
                    known,
                    version_text.starts_with(|first: char| first.is_ascii_digit()),
                    "{version_text}"
                );
                libc::free(lib.cast());
                libc::free(version.cast());
            }
        }
        if !library.is_reference() {
            // The reference crashes here (abi.md 14).
            let (mut lib, mut version) = (ptr::dangling_mut(), ptr::dangling_mut());
            // SAFETY: valid out-pointers.
            let rc = unsafe { (library.blosc2_get_complib_info)(c"snappy".as_ptr(), &mut lib, &mut version) };
            assert!(rc == -1 && lib.is_null() && version.is_null());
        }
        // SAFETY: no arguments, static text.
        let (version, list) = unsafe {
            (
                to_optional_string((library.blosc2_get_version_string)()),
                to_optional_string((library.blosc2_list_compressors)()),
            )
        };
        assert_eq!(version.as_deref(), Some("3.3.5"));
        assert_eq!(list.as_deref(), Some("blosclz,lz4,lz4hc,zlib,zstd"));
    }
}

#[test]
fn default_parameters_match_the_document() {
    for library in all_libraries() {
        // SAFETY: no arguments, structs by value.
        let (cparams, dparams) = unsafe {
            ((library.blosc2_get_blosc2_cparams_defaults)(), (library.blosc2_get_blosc2_dparams_defaults)())
        };
        let expected = Params::default().cparams();
        assert_eq!(
            (cparams.compcode, cparams.compcode_meta, cparams.clevel, cparams.use_dict, cparams.typesize),
            (
                expected.compcode,
                expected.compcode_meta,
                expected.clevel,
                expected.use_dict,
                expected.typesize
            )
        );
        assert_eq!((cparams.nthreads, cparams.blocksize, cparams.splitmode), (1, 0, 4));
        assert_eq!((cparams.filters, cparams.filters_meta), (expected.filters, expected.filters_meta));
        assert!(cparams.schunk.is_null() && cparams.prefilter.is_none() && cparams.preparams.is_null());
        assert!(cparams.tuner_params.is_null() && cparams.tuner_id == 0 && !cparams.instr_codec.get());
        assert!(cparams.codec_params.is_null() && cparams.filter_params.iter().all(|param| param.is_null()));
        assert_eq!((dparams.nthreads, dparams.typesize), (1, 8));
        assert!(dparams.schunk.is_null() && dparams.postfilter.is_none() && dparams.postparams.is_null());
    }
}

/// The parameters that a context returns; two fields are not written (abi.md 16.5).
#[test]
fn context_returns_its_parameters() {
    for library in all_libraries() {
        let params = Params {
            codec: 5,
            codec_meta: 7,
            clevel: 3,
            use_dict: true,
            typesize: 12,
            nthreads: 2,
            blocksize: 1200,
            splitmode: 1,
            filters: [1, 2, 3, 4, 0, 160],
            filters_meta: [9, 8, 7, 6, 5, 4],
        };
        let context = OwnedContext::for_compression(library, params.cparams()).expect("a context");
        let poison = ptr::without_provenance_mut(0x5A5A_5A5A);
        let mut got = Params::default().cparams();
        got.tuner_params = poison;
        got.filter_params = [poison; 6];
        // SAFETY: a live context and a valid out-pointer.
        assert_eq!(unsafe { (library.blosc2_ctx_get_cparams)(context.raw(), &mut got) }, 0);
        let told = Params {
            codec: got.compcode,
            codec_meta: got.compcode_meta,
            clevel: got.clevel,
            use_dict: got.use_dict != 0,
            typesize: got.typesize,
            nthreads: got.nthreads,
            blocksize: got.blocksize,
            splitmode: got.splitmode,
            filters: got.filters,
            filters_meta: got.filters_meta,
        };
        assert_eq!(told, params, "{}", library.name);
        assert!(got.tuner_params == poison && got.filter_params == [poison; 6], "{}", library.name);

        // The block size after a compression is the effective one; a wide typesize counts as 1.
        let params = Params { typesize: 300, blocksize: 1000, ..Params::default() };
        let mut context = OwnedContext::for_compression(library, params.cparams()).expect("a context");
        let (rc, _) = with_destination(10_000, |dest| context.compress(&[5; 3000], dest));
        assert!(rc > 0);
        let got = context.cparams();
        assert_eq!((got.typesize, got.blocksize), (1, 900), "{}", library.name);

        // A decompression context has no typesize before its first chunk.
        let chunk = special_chunk(library, &params_with_typesize(4), Special::Zeros, 400, 32).expect("zeros");
        let mut reader = OwnedContext::for_decompression(library, dparams(2));
        assert_eq!((reader.dparams().nthreads, reader.dparams().typesize), (2, 0), "{}", library.name);
        let (rc, _) = with_destination(400, |dest| reader.decompress(&chunk, dest));
        assert_eq!((rc, reader.dparams().typesize), (400, 4), "{}", library.name);
    }
}

#[test]
fn unidim_and_multidim_conversions_match_the_document() {
    for library in all_libraries() {
        for (i, expected) in [(17, [1, 1, 1]), (100, [8, 1, 0]), (-5, [0, -1, -1])] {
            let mut shape = [2i64, 3, 4];
            let mut index = [77i64; 3];
            // SAFETY: arrays of three entries.
            unsafe { (library.blosc2_unidim_to_multidim)(3, shape.as_mut_ptr(), i, index.as_mut_ptr()) };
            assert_eq!(index, expected, "{}: {i}", library.name);
            let mut back = 77;
            // SAFETY: as above.
            unsafe {
                (library.blosc2_multidim_to_unidim)(index.as_ptr(), 3, [12i64, 4, 1].as_ptr(), &mut back)
            };
            assert_eq!(back, i, "{}", library.name);
        }
        let mut index = 77i64;
        let mut shape = 5i64;
        // SAFETY: valid pointers; nothing is written for no dimensions.
        unsafe { (library.blosc2_unidim_to_multidim)(0, &mut shape, 3, &mut index) };
        assert_eq!(index, 77, "{}", library.name);
        // SAFETY: as above.
        unsafe { (library.blosc2_multidim_to_unidim)(&index, 0, &shape, &mut index) };
        assert_eq!(index, 0, "{}", library.name);
    }
}

/// The arguments of a prefilter for one block.
#[derive(Clone, Debug, PartialEq)]
struct FilterArguments {
    size: i32,
    typesize: i32,
    offset: i32,
    nchunk: i64,
    nblock: i32,
    tid: i32,
    ttmp_nbytes: usize,
    input: usize,
    in_scratch: bool,
}

unsafe extern "C" fn add_one(params: *mut blosc2_prefilter_params) -> c_int {
    // SAFETY: the library passes a valid struct, `user_data` is the test's list, and input and output have
    // the stated size.
    unsafe {
        let params = &*params;
        let (input, output) = (params.input, params.output);
        for i in 0..params.output_size as usize {
            assert_eq!(*output.add(i), 0, "the output is zeroed first");
            *output.add(i) = (*input.add(i)).wrapping_add(1);
        }
        (*params.user_data.cast::<Mutex<Vec<FilterArguments>>>()).lock().expect("the list").push(
            FilterArguments {
                size: params.output_size,
                typesize: params.output_typesize,
                offset: params.output_offset,
                nchunk: params.nchunk,
                nblock: params.nblock,
                tid: params.tid,
                ttmp_nbytes: params.ttmp_nbytes,
                input: input.addr(),
                in_scratch: params.ttmp == output,
            },
        );
    }
    0
}

unsafe extern "C" fn subtract_one(params: *mut blosc2_postfilter_params) -> c_int {
    // SAFETY: as in `add_one`.
    unsafe {
        let params = &*params;
        for i in 0..params.size as usize {
            *params.output.add(i) = (*params.input.add(i)).wrapping_sub(1);
        }
        (*params.user_data.cast::<Mutex<Vec<FilterArguments>>>()).lock().expect("the list").push(
            FilterArguments {
                size: params.size,
                typesize: params.typesize,
                offset: params.offset,
                nchunk: params.nchunk,
                nblock: params.nblock,
                tid: params.tid,
                ttmp_nbytes: params.ttmp_nbytes,
                input: 0,
                in_scratch: false,
            },
        );
    }
    0
}

#[test]
fn prefilter_and_postfilter_get_the_documented_arguments() {
    let src: Vec<u8> = (0..1_000_000u32).map(|i| (i / 1000) as u8).collect();
    for library in all_libraries() {
        let seen = Mutex::new(Vec::<FilterArguments>::new());
        let mut preparams = blosc2_prefilter_params {
            user_data: (&raw const seen).cast_mut().cast(),
            input: ptr::null(),
            output: ptr::null_mut(),
            output_size: 0,
            output_typesize: 0,
            output_offset: 0,
            nchunk: 0,
            nblock: 0,
            tid: 0,
            ttmp: ptr::null_mut(),
            ttmp_nbytes: 0,
            ctx: ptr::null_mut(),
            output_is_disposable: CBool::FALSE,
        };
        let mut cparams = Params { blocksize: 65_536, ..params_with_typesize(4) }.cparams();
        cparams.prefilter = Some(add_one);
        cparams.preparams = &mut preparams;
        let mut writer = OwnedContext::for_compression(library, cparams).expect("a context");
        let (rc, dest) = with_destination(src.len() + 32, |dest| writer.compress(&src, dest));
        assert!(rc > 0, "{}: {rc}", library.name);
        let chunk = &dest[..rc as usize];
        let blocks = std::mem::take(&mut *seen.lock().expect("the list"));
        assert_eq!(blocks.len(), 16, "{}", library.name);
        let expected = |typesize, input: usize, in_scratch| FilterArguments {
            size: 65_536,
            typesize,
            offset: 65_536,
            nchunk: -1,
            nblock: 1,
            tid: 0,
            ttmp_nbytes: 262_208,
            input,
            in_scratch,
        };
        assert_eq!(blocks[1], expected(4, src.as_ptr().addr() + 65_536, true), "{}", library.name);
        assert_eq!((blocks[15].size, blocks[15].nblock), (1_000_000 - 15 * 65_536, 15));

        let plus: Vec<u8> = src.iter().map(|byte| byte.wrapping_add(1)).collect();
        let mut reader = OwnedContext::for_decompression(library, dparams(1));
        let (rc, decoded) = with_destination(src.len(), |dest| reader.decompress(chunk, dest));
        assert!(rc == src.len() as i32 && decoded == plus, "{}: {rc}", library.name);

        let mut postparams = blosc2_postfilter_params {
            user_data: (&raw const seen).cast_mut().cast(),
            input: ptr::null(),
            output: ptr::null_mut(),
            size: 0,
            typesize: 0,
            offset: 0,
            nchunk: 0,
            nblock: 0,
            tid: 0,
            ttmp: ptr::null_mut(),
            ttmp_nbytes: 0,
            ctx: ptr::null_mut(),
        };
        let mut with_postfilter = dparams(1);
        with_postfilter.postfilter = Some(subtract_one);
        with_postfilter.postparams = &mut postparams;
        let mut reader = OwnedContext::for_decompression(library, with_postfilter);
        let (rc, decoded) = with_destination(src.len(), |dest| reader.decompress(chunk, dest));
        assert!(rc == src.len() as i32 && decoded == src, "{}: {rc}", library.name);
        let blocks = std::mem::take(&mut *seen.lock().expect("the list"));
        assert_eq!((blocks.len(), &blocks[1]), (16, &expected(4, 0, false)), "{}", library.name);
        // getitem runs the postfilter on the whole block.
        let (rc, item) = with_destination(8, |dest| reader.getitem(chunk, 20_000, 2, dest));
        assert!(rc == 8 && item == src[80_000..80_008], "{}: {rc}", library.name);
        let blocks = std::mem::take(&mut *seen.lock().expect("the list"));
        assert_eq!(blocks, [expected(4, 0, false)], "{}", library.name);
        check_failing_filters(library);
    }
}

unsafe extern "C" fn failing_prefilter(_: *mut blosc2_prefilter_params) -> c_int {
    1
}

unsafe extern "C" fn failing_postfilter(_: *mut blosc2_postfilter_params) -> c_int {
    1
}

fn check_failing_filters(library: &Library) {
    let src = vec![3u8; 4000];
    // SAFETY: all-zero bytes are a valid value of these structs of numbers and nullable pointers.
    let (mut preparams, mut postparams) = unsafe {
        (std::mem::zeroed::<blosc2_prefilter_params>(), std::mem::zeroed::<blosc2_postfilter_params>())
    };
    for (disposable, expected) in [(CBool::FALSE, -18), (CBool::TRUE, 32)] {
        preparams.output_is_disposable = disposable;
        let mut cparams = params_with_typesize(4).cparams();
        cparams.prefilter = Some(failing_prefilter);
        cparams.preparams = &mut preparams;
        let mut writer = OwnedContext::for_compression(library, cparams).expect("a context");
        let (rc, dest) = with_destination(5000, |dest| writer.compress(&src, dest));
        assert_eq!(rc, expected, "{}: prefilter that fails", library.name);
        if rc > 0 {
            let kind = dest[0x1F] >> 4;
            assert_eq!(kind, 1, "{}: a zero chunk", library.name);
        }
    }
    let chunk = super::compress(library, &params_with_typesize(4), &src, 5000).expect("a chunk");
    let mut with_postfilter = dparams(1);
    with_postfilter.postfilter = Some(failing_postfilter);
    with_postfilter.postparams = &mut postparams;
    let mut reader = OwnedContext::for_decompression(library, with_postfilter);
    assert_eq!(with_destination(4000, |dest| reader.decompress(&chunk, dest)).0, -27, "{}", library.name);
}
