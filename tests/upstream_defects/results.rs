//! Results that a function stores through pointers are NULL, false or 0 after an error (abi.md 14): a program that
//! frees or reads them without a look at the code does no harm.

use std::ffi::c_void;
use std::mem::size_of;
use std::ptr;

use blosc2::abi::blosc2_dparams;

use crate::checks::{compressed, data, ours};
use crate::support::calls::{OwnedContext, Params, dparams, len32, vlcompress};
use crate::support::data::Data;
use crate::support::super_chunk::scratch::ScratchDir;
use crate::support::super_chunk::{Store, SuperChunk};

/// The content of a result before the call: no valid pointer, `bool` or length.
const FILL: u8 = 0x5a;
/// Size of the memory of one result, in bytes.
const PLACE_LEN: usize = 128;

/// The places of the results of a call.
type Places<'a> = &'a [*mut c_void];

/// Calls a function that fails, with places for results of these sizes in bytes, and once with NULL for each of them.
#[track_caller]
fn assert_cleared(what: &str, sizes: &[usize], call: impl Fn(Places<'_>) -> i64) {
    // With `null == sizes.len()`, no place is NULL.
    for null in 0..=sizes.len() {
        let mut memory = vec![[u64::from_ne_bytes([FILL; 8]); PLACE_LEN / 8]; sizes.len()];
        let places: Vec<*mut c_void> = (0..sizes.len())
            .map(|n| if n == null { ptr::null_mut() } else { memory[n].as_mut_ptr().cast() })
            .collect();
        let code = call(&places);
        assert!(code < 0, "{what}: {code}, NULL for result {null}");
        for (n, (words, &size)) in memory.iter().zip(sizes).enumerate() {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let cleared = if n == null { 0 } else { size };
            assert!(bytes[..cleared].iter().all(|&byte| byte == 0), "{what}: result {n} is {bytes:x?}");
            assert!(bytes[cleared..].iter().all(|&byte| byte == FILL), "{what}: written beyond result {n}");
        }
    }
}

/// The result of functions without a code, which fail silently.
const FAILED: i64 = -1;

const POINTER: usize = size_of::<*mut c_void>();
/// The size of a `size_t`.
const SIZE: usize = size_of::<usize>();

#[test]
fn abi_14_results_of_functions_of_chunks_and_contexts_are_cleared() {
    let library = ours();
    let reader = OwnedContext::for_decompression(library, dparams(1));
    let writer = OwnedContext::for_compression(library, Params::default().cparams()).expect("a context");
    let src = data(Data::Ramp, 8, 1000);
    let chunk = compressed(&Params::default(), &src);
    let mut damaged =
        vlcompress(library, &Params::default(), &[src.clone(), src.clone()], 5000).expect("a chunk");
    // The offset of the last block lies behind the end.
    damaged[36..40].copy_from_slice(&i32::MAX.to_le_bytes());
    let invalid = [0xffu8; 64];
    // SAFETY: chunks with their lengths, live contexts, and places that are NULL or large enough.
    unsafe {
        let bad = invalid.as_ptr().cast::<c_void>();
        assert_cleared("blosc1_cbuffer_sizes", &[SIZE; 3], |to| {
            (library.blosc1_cbuffer_sizes)(bad, to[0].cast(), to[1].cast(), to[2].cast());
            FAILED
        });
        assert_cleared("blosc2_cbuffer_sizes", &[4, 4, 4], |to| {
            (library.blosc2_cbuffer_sizes)(bad, to[0].cast(), to[1].cast(), to[2].cast()).into()
        });
        let too_long = usize::try_from(1u64 << 32).unwrap_or(1 << 31);
        for (cbuffer, cbytes) in
            [(bad, 64), (ptr::null(), 64), (bad, 15), (chunk.as_ptr().cast(), too_long + chunk.len())]
        {
            assert_cleared("blosc1_cbuffer_validate", &[SIZE], |to| {
                (library.blosc1_cbuffer_validate)(cbuffer, cbytes, to[0].cast()).into()
            });
        }
        assert_cleared("blosc1_cbuffer_metainfo", &[SIZE, 4], |to| {
            (library.blosc1_cbuffer_metainfo)(bad, to[0].cast(), to[1].cast());
            FAILED
        });
        assert_cleared("blosc2_cbuffer_versions", &[4, 4], |to| {
            (library.blosc2_cbuffer_versions)(bad, to[0].cast(), to[1].cast());
            FAILED
        });
        assert_cleared("blosc2_compcode_to_compname", &[POINTER], |to| {
            (library.blosc2_compcode_to_compname)(77, to[0].cast()).into()
        });
        for name in [c"unknown".as_ptr(), ptr::null()] {
            assert_cleared("blosc2_get_complib_info", &[POINTER; 2], |to| {
                (library.blosc2_get_complib_info)(name, to[0].cast(), to[1].cast()).into()
            });
        }
        assert_cleared("blosc2_ctx_get_dparams", &[size_of::<blosc2_dparams>()], |to| {
            (library.blosc2_ctx_get_dparams)(ptr::null_mut(), to[0].cast()).into()
        });
        for (context, chunk) in [
            (ptr::null_mut(), &damaged),
            (writer.raw(), &damaged),
            (reader.raw(), &chunk),
            (reader.raw(), &damaged),
        ] {
            let (src, len) = (chunk.as_ptr().cast::<c_void>(), len32(chunk));
            assert_cleared("blosc2_vldecompress_ctx", &[3 * POINTER, 3 * 4], |to| {
                (library.blosc2_vldecompress_ctx)(context, src, len, to[0].cast(), to[1].cast(), 3).into()
            });
            for nblock in [1, 2, -1] {
                assert_cleared("blosc2_vldecompress_block_ctx", &[POINTER, 4], |to| {
                    let (dest, size) = (to[0].cast(), to[1].cast());
                    (library.blosc2_vldecompress_block_ctx)(context, src, len, nblock, dest, size).into()
                });
            }
        }
        for src in [bad, chunk.as_ptr().cast(), ptr::null()] {
            assert_cleared("blosc2_vlchunk_get_nblocks", &[4], |to| {
                (library.blosc2_vlchunk_get_nblocks)(src, 64, to[0].cast()).into()
            });
        }
        assert_cleared("blosc2_unidim_to_multidim", &[3 * 8], |to| {
            (library.blosc2_unidim_to_multidim)(3, ptr::null_mut(), 5, to[0].cast());
            FAILED
        });
        assert_cleared("blosc2_multidim_to_unidim", &[8], |to| {
            (library.blosc2_multidim_to_unidim)(ptr::null(), 3, [1i64; 3].as_ptr(), to[0].cast());
            FAILED
        });
        assert_cleared("blosc2_stdio_mmap_read", &[POINTER], |to| {
            (library.blosc2_stdio_mmap_read)(to[0].cast(), 1, 1, 0, ptr::null_mut()) - 1
        });
    }
}

#[test]
fn abi_14_results_of_functions_of_super_chunks_are_cleared() {
    let scratch = ScratchDir::new();
    for store in Store::ALL {
        let params = Params { typesize: 4, ..Params::default() };
        let schunk = SuperChunk::create(ours(), store, &scratch.new_path(), &params);
        for nbytes in [400, 800] {
            // Chunks of different sizes have no slices.
            assert!(schunk.append(&data(Data::Ramp, 4, nbytes)).is_ok());
        }
        assert_eq!(schunk.vlmeta_add("there", b"content"), 0);
        let f = schunk.functions;
        for handle in [ptr::null_mut(), schunk.raw()] {
            let what = |function: &str| format!("{function}, {store:?}, {handle:?}");
            // SAFETY: a live super-chunk or NULL, and places that are NULL or large enough.
            unsafe {
                for nchunk in [-1, 2, i64::MAX] {
                    assert_cleared(&what("blosc2_schunk_get_chunk"), &[POINTER, 1], |to| {
                        (f.blosc2_schunk_get_chunk)(handle, nchunk, to[0].cast(), to[1].cast()).into()
                    });
                    assert_cleared(&what("blosc2_schunk_get_lazychunk"), &[POINTER, 1], |to| {
                        (f.blosc2_schunk_get_lazychunk)(handle, nchunk, to[0].cast(), to[1].cast()).into()
                    });
                }
                for nchunk in [-1, 0, 2] {
                    assert_cleared(&what("blosc2_schunk_get_vlblock"), &[POINTER, 4], |to| {
                        (f.blosc2_schunk_get_vlblock)(handle, nchunk, 0, to[0].cast(), to[1].cast()).into()
                    });
                }
                let long = std::ffi::CString::new(vec![b'n'; 40]).expect("a name");
                for name in [c"missing".as_ptr(), long.as_ptr(), ptr::null()] {
                    assert_cleared(&what("blosc2_vlmeta_get"), &[POINTER, 4], |to| {
                        (f.blosc2_vlmeta_get)(handle, name, to[0].cast(), to[1].cast()).into()
                    });
                }
                let (mut start, mut stop) = (0i64, 5i64);
                let stop = &raw mut stop;
                for start in [&raw mut start, ptr::null_mut()] {
                    assert_cleared(&what("blosc2_get_slice_nchunks"), &[POINTER], |to| {
                        (f.blosc2_get_slice_nchunks)(handle, start, stop, to[0].cast())
                    });
                }
            }
        }
    }
    let f = crate::support::super_chunk::functions::Functions::of(ours());
    // SAFETY: NULL, and places that are NULL or large enough.
    unsafe {
        assert_cleared("blosc2_schunk_to_buffer", &[POINTER, 1], |to| {
            (f.blosc2_schunk_to_buffer)(ptr::null_mut(), to[0].cast(), to[1].cast())
        });
        assert_cleared("blosc2_schunk_get_cparams", &[POINTER], |to| {
            (f.blosc2_schunk_get_cparams)(ptr::null_mut(), to[0].cast()).into()
        });
        assert_cleared("blosc2_schunk_get_dparams", &[POINTER], |to| {
            (f.blosc2_schunk_get_dparams)(ptr::null_mut(), to[0].cast()).into()
        });
    }
}
