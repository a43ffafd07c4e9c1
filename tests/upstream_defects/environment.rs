//! Effects of environment variables (chunk.md 10.12, 10.22, codecs.md 18 and abi.md 13.4), each tested in a child
//! process.

use std::ffi::CStr;

use crate::checks::{assert_all_decode, data, large_destsize, ours};
use crate::support::calls::{Header, OwnedContext, Params, compress, decompress, dparams, with_destination};
use crate::support::child::{in_new_process, in_new_process_with, test_name};
use crate::support::data::Data;
use crate::support::system::set_variable;

fn global_compress(clevel: i32, typesize: i32, src: &[u8]) -> Result<Vec<u8>, i32> {
    let (rc, mut dest) = with_destination(large_destsize(src.len()), |dest| {
        // SAFETY: a source and a destination with their true lengths.
        unsafe {
            let (len, room) = (src.len() as i32, dest.len() as i32);
            (ours().blosc2_compress)(
                clevel,
                1,
                typesize,
                src.as_ptr().cast(),
                len,
                dest.as_mut_ptr().cast(),
                room,
            )
        }
    });
    if rc <= 0 {
        return Err(rc);
    }
    dest.truncate(rc as usize);
    Ok(dest)
}

/// With `BLOSC_NOLOCK`, parameters are not truncated to 8 bits, and the forced block size is kept.
#[test]
fn chunk_10_12_no_lock_keeps_wide_typesizes_and_the_blocksize() {
    in_new_process_with(test_name!(), &[("BLOSC_NOLOCK", "1")], || {
        let src = data(Data::Ramp, 4, 30_000);
        for typesize in [255, 256, 300, 512, 70_000] {
            let chunk = global_compress(5, typesize, &src).expect("a chunk");
            let header = Header::parse(&chunk);
            assert_eq!(header.typesize, if typesize == 255 { 255 } else { 1 });
            if typesize < 30_000 {
                assert_eq!(header.blocksize % typesize, 0, "typesize {typesize}");
            }
            assert_all_decode(&chunk, &src);
        }
        for clevel in [10, 256, 261, 265, -1, i32::MAX, i32::MIN] {
            assert_eq!(global_compress(clevel, 4, &src), Err(-8), "level {clevel}");
        }
        for typesize in [0, -1, i32::MIN] {
            assert_eq!(global_compress(5, typesize, &src), Err(-12), "typesize {typesize}");
        }
        // SAFETY: a plain setter.
        unsafe { (ours().blosc1_set_blocksize)(1201) };
        let chunk = global_compress(5, 4, &src).expect("a chunk");
        assert_eq!(Header::parse(&chunk).blocksize, 1200);
        assert_all_decode(&chunk, &src);
        let (rc, dest) = with_destination(src.len(), |dest| {
            // SAFETY: a chunk and a destination with their true lengths.
            unsafe {
                let (len, room) = (chunk.len() as i32, dest.len() as i32);
                (ours().blosc2_decompress)(chunk.as_ptr().cast(), len, dest.as_mut_ptr().cast(), room)
            }
        });
        assert!(rc == src.len() as i32 && dest == src, "{rc}");
    });
}

/// The unlocked path writes the same chunks as the locked one, except for the default shuffle of single bytes.
#[test]
fn chunk_10_12_no_lock_writes_the_same_chunks_as_the_locked_path() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 8, 100_000);
        for compressor in [c"blosclz", c"lz4", c"lz4hc", c"zlib", c"zstd"] {
            for nthreads in [1, 4] {
                for typesize in [2, 8, 300] {
                    // SAFETY: one thread; a terminated name; plain setters.
                    let chunks = [false, true].map(|unlocked| unsafe {
                        set_variable("BLOSC_NOLOCK", unlocked.then_some("1"));
                        (ours().blosc1_set_compressor)(compressor.as_ptr());
                        (ours().blosc2_set_nthreads)(nthreads);
                        global_compress(5, typesize, &src).expect("a chunk")
                    });
                    assert!(chunks[0] == chunks[1], "{compressor:?}, {nthreads}, {typesize}");
                }
            }
        }
    });
}

/// An unknown name is rejected, and no other codec replaces it (abi.md 13.4 and its vectors): compression with a
/// codec fails until a known name is set.
#[test]
fn chunk_10_22_abi_13_04_unknown_compressor_is_rejected() {
    in_new_process(test_name!(), || {
        let src = data(Data::Text, 4, 10_000);
        let set = |name: &CStr| {
            // SAFETY: a terminated name.
            unsafe { (ours().blosc1_set_compressor)(name.as_ptr()) }
        };
        let name = || {
            // SAFETY: no arguments; NULL or a static string.
            unsafe {
                let name = (ours().blosc1_get_compressor)();
                (!name.is_null()).then(|| CStr::from_ptr(name).to_owned())
            }
        };
        assert_eq!(set(c"lz4"), 1);
        for bad in [c"nonesuch", c"LZ4", c"", c"snappy"] {
            assert_eq!(set(bad), -1);
            assert_eq!(name(), None);
            assert_eq!(global_compress(5, 4, &src), Err(-7));
            // Calls that need no codec work.
            assert_all_decode(&global_compress(0, 4, &src).expect("a plain chunk"), &src);
            assert_all_decode(&global_compress(5, 4, &[3; 5000]).expect("runs"), &[3; 5000]);
            assert_eq!(set(c"zfp_acc"), -7);
            assert_eq!(name(), None);
            assert_eq!(set(c"zstd"), 5);
            assert_eq!(name().as_deref(), Some(c"zstd"));
            assert_all_decode(&global_compress(5, 4, &src).expect("a chunk"), &src);
            assert_eq!(set(c"ndlz"), -7);
            assert_eq!(name().as_deref(), Some(c"zstd"));
        }
    });
}

#[test]
fn chunk_10_22_unknown_compressor_in_the_environment_fails() {
    let name = test_name!();
    in_new_process_with(name, &[("BLOSC_COMPRESSOR", "ZSTD")], || {
        let src = data(Data::Text, 4, 10_000);
        assert_eq!(global_compress(5, 4, &src), Err(-7));
        // SAFETY: no arguments.
        assert!(unsafe { (ours().blosc1_get_compressor)() }.is_null());
        // A context reports 255, and fails in the same way.
        let params = Params { typesize: 4, codec: 1, ..Params::default() };
        let context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
        assert_eq!(context.cparams().compcode, 255);
        assert_eq!(compress(ours(), &params, &src, 20_000), Err(-7));
        // SAFETY: one thread.
        unsafe { set_variable("BLOSC_COMPRESSOR", Some("zlib")) };
        let chunk = global_compress(5, 4, &src).expect("a chunk");
        assert_eq!(Header::parse(&chunk).udcompcode, 4);
        assert_all_decode(&chunk, &src);
    });
}

/// A number of threads outside 1..=32767 is ignored, or an error of `blosc2_decompress` (abi.md 10.2).
#[test]
fn abi_10_2_numbers_of_threads_out_of_range_are_not_truncated() {
    in_new_process(test_name!(), || {
        let src = data(Data::Ramp, 4, 50_000);
        for (value, nthreads) in [
            ("40000", 2),
            ("32768", 2),
            ("65536", 2),
            ("65537", 2),
            ("-65535", 2),
            ("32767", 32_767),
            ("3", 3),
        ] {
            // SAFETY: one thread.
            unsafe { set_variable("BLOSC_NTHREADS", Some(value)) };
            let params = Params { typesize: 4, nthreads: 2, ..Params::default() };
            let context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
            assert_eq!(context.cparams().nthreads, nthreads, "{value}");
            let context = OwnedContext::for_decompression(ours(), dparams(2));
            assert_eq!(context.dparams().nthreads, nthreads, "{value}");
            if nthreads < 100 {
                let chunk = global_compress(5, 4, &src).expect("a chunk");
                // SAFETY: no arguments.
                let stored = unsafe { (ours().blosc2_get_nthreads)() };
                assert_eq!(stored, if nthreads == 2 { 1 } else { nthreads }, "{value}");
                assert_eq!(decompress(ours(), 2, &chunk, src.len()).as_ref(), Ok(&src), "{value}");
                let (rc, _) = with_destination(src.len(), |dest| {
                    // SAFETY: a chunk and a destination with their true lengths.
                    unsafe {
                        (ours().blosc2_decompress)(
                            chunk.as_ptr().cast(),
                            chunk.len() as i32,
                            dest.as_mut_ptr().cast(),
                            dest.len() as i32,
                        )
                    }
                });
                assert_eq!(rc, if nthreads == 2 { -12 } else { src.len() as i32 }, "{value}");
            }
        }
    });
}

/// Invalid settings neither crash nor stay in effect (checks 16 and 44, abi.md 16.25).
#[test]
fn chunk_10_12_invalid_environment_values_do_not_stay_in_effect() {
    in_new_process(test_name!(), || {
        let src = data(Data::SmoothFloats, 4, 100_000);
        let usual = global_compress(5, 4, &src).expect("a chunk");
        for (variable, values) in [
            ("BLOSC_TYPESIZE", &["0", "-1", "abc", "", "99999999999999999999", "-99999999999999999999"][..]),
            ("BLOSC_BLOCKSIZE", &["0", "-1", "abc", "", "2147483648", "99999999999999999999"]),
            ("BLOSC_NTHREADS", &["0", "-1", "abc", "", "65536", "99999999999999999999"]),
            ("BLOSC_SPLITMODE", &["", "always", "5"]),
            ("BLOSC_SHUFFLE", &["", "shuffle", "1"]),
            ("BLOSC_DELTA", &["", "2", "yes"]),
            ("BLOSC_CLEVEL", &["-1", "99999999999999999999", "-99999999999999999999"]),
        ] {
            for value in values {
                // SAFETY: the only other threads are the workers, which do not read the environment.
                unsafe { set_variable(variable, Some(value)) };
                if let Ok(chunk) = global_compress(5, 4, &src) {
                    assert_eq!(decompress(ours(), 1, &chunk, src.len()).as_deref(), Ok(&src[..]));
                }
                if let Ok(chunk) =
                    compress(ours(), &Params { typesize: 4, ..Params::default() }, &src, 200_000)
                {
                    assert_eq!(decompress(ours(), 1, &chunk, src.len()).as_deref(), Ok(&src[..]));
                }
                // SAFETY: as above.
                unsafe { set_variable(variable, None) };
            }
            // SAFETY: plain setters; they restore the initial values.
            unsafe {
                (ours().blosc1_set_blocksize)(0);
                (ours().blosc2_set_nthreads)(1);
                (ours().blosc1_set_splitmode)(4);
            }
            assert!(global_compress(5, 4, &src).as_ref() == Ok(&usual), "after {variable}");
        }
        // SAFETY: plain setters with values that are rejected.
        unsafe {
            assert_eq!((ours().blosc2_set_nthreads)(4), 1);
            for nthreads in [0, -3, i16::MIN] {
                assert_eq!((ours().blosc2_set_nthreads)(nthreads), -12);
                assert_eq!((ours().blosc2_get_nthreads)(), 4);
            }
        }
    });
}
