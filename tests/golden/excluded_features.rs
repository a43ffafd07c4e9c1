//! Results for the ids of the library's own codecs and filters that were excluded from a build: the same as for ids
//! that are not registered (`codecs.md` 1.1, 1.2, 12.2 and 12.4). In a build with all of them, the tests check that
//! they are available. `scripts/check-lean.sh` runs the tests with a library that has none of them.

use std::ffi::{CStr, c_char};

use crate::support::calls::{self, OwnedContext, Params};
use crate::support::library::{Library, has_feature};

/// Error codes for an unknown codec and an unknown filter.
const NO_CODEC: i32 = -7;
const NO_FILTER: i32 = -18;

/// Position of the flags in a chunk, which state its codec (`chunk.md` 1.3).
const FLAGS_OFFSET: usize = 2;
const FILTERS_RANGE: std::ops::Range<usize> = 16..22;
const CODEC_OFFSET: usize = 22;
/// The codec format of registered codecs, in the flags.
const REGISTERED_CODEC_FORMAT: u8 = 6 << 5;

/// Id, name, and whether the library includes it.
fn codecs_of(library: &Library) -> [(u8, &'static CStr, bool); 4] {
    let (ndlz, zfp) = (has_feature(library.name, "ndlz"), has_feature(library.name, "zfp"));
    [(32, c"ndlz", ndlz), (33, c"zfp_acc", zfp), (34, c"zfp_prec", zfp), (35, c"zfp_rate", zfp)]
}

fn data() -> Vec<u8> {
    (0..40_000u32).map(|i| (i / 7 * (i % 5)) as u8).collect()
}

fn compress(library: &Library, params: &Params, src: &[u8]) -> Result<Vec<u8>, i32> {
    calls::compress(library, params, src, src.len() + 4096)
}

#[test]
fn names_of_excluded_codecs_are_unknown() {
    let library = Library::ours();
    for (id, name, is_there) in codecs_of(library) {
        let mut found: *const c_char = std::ptr::null();
        // SAFETY: a terminated string, and an out-pointer.
        let (code, back) = unsafe {
            (
                (library.blosc2_compname_to_compcode)(name.as_ptr()),
                (library.blosc2_compcode_to_compname)(id.into(), (&raw mut found).cast()),
            )
        };
        let expected = if is_there { i32::from(id) } else { -1 };
        assert_eq!((code, back, found.is_null()), (expected, expected, !is_there), "{name:?}");
    }
}

#[test]
fn excluded_codecs_return_the_error_of_unknown_codecs() {
    let library = Library::ours();
    let src = data();
    let usual = compress(library, &Params::default(), &src).expect("BloscLZ");
    for (id, name, is_there) in codecs_of(library) {
        let params = Params { codec: id, codec_meta: 4, filters: [0; 6], ..Params::default() };
        let compressed = compress(library, &params, &src);
        let mut chunk = usual.clone();
        chunk[FLAGS_OFFSET] = chunk[FLAGS_OFFSET] & !(7 << 5) | REGISTERED_CODEC_FORMAT;
        chunk[CODEC_OFFSET] = id;
        let decompressed = calls::decompress(library, 1, &chunk, src.len());
        if is_there {
            assert_ne!(compressed, Err(NO_CODEC), "{name:?}");
            assert_ne!(decompressed, Err(NO_CODEC), "{name:?}");
        } else {
            assert_eq!(compressed, Err(NO_CODEC), "{name:?}");
            assert_eq!(decompressed, Err(NO_CODEC), "{name:?}");
            // A run needs no codec.
            let zeros = vec![0; src.len()];
            let chunk = compress(library, &params, &zeros).expect("zeros");
            assert_eq!(calls::decompress(library, 1, &chunk, zeros.len()), Ok(zeros));
        }
    }
}

#[test]
fn excluded_filters_return_the_error_of_unknown_filters() {
    let library = Library::ours();
    let src = data();
    let usual = compress(library, &Params { filters: [0; 6], ..Params::default() }, &src).expect("BloscLZ");
    for id in 32..=36 {
        let params = Params { filters: [0, 0, 0, 0, 0, id], ..Params::default() };
        let is_accepted = OwnedContext::for_compression(library, params.cparams()).is_some();
        let mut chunk = usual.clone();
        chunk[FILTERS_RANGE][5] = id;
        let decompressed = calls::decompress(library, 1, &chunk, src.len());
        let is_there = has_feature(library.name, "plugin-filters");
        assert_eq!(is_accepted, is_there, "filter {id}");
        assert_eq!(decompressed == Err(NO_FILTER), !is_there, "filter {id}: {decompressed:?}");
    }
}
