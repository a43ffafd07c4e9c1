//! The header contains the block size that was used, and blocks that cannot be split are not split (chunk.md 10.1,
//! 10.21, 10.27, 10.29, filters.md D10).

use crate::checks::{
    BITSHUFFLE, CODECS, SHUFFLE, assert_all_decode, assert_items_in_all_contexts, compressed, data,
    large_destsize, ours, pipeline,
};
use crate::support::calls::{
    Header, OwnedContext, Params, Special, decompress, dparams, getitem, special_chunk, vlcompress,
    with_destination,
};
use crate::support::child::{in_new_process, test_name};
use crate::support::data::Data;

/// Compresses with every codec and split mode, and checks the block size in the header.
fn check_blocksize(params: Params, src: &[u8], expected: i32) {
    for codec in CODECS {
        for splitmode in 1..=4 {
            for nthreads in [1, 4] {
                let params = Params { codec, splitmode, nthreads, ..params.clone() };
                let chunk = compressed(&params, src);
                assert_eq!(Header::parse(&chunk).blocksize, expected, "{params:?}");
                assert_all_decode(&chunk, src);
                assert_items_in_all_contexts(&chunk, src);
            }
        }
    }
}

#[test]
fn chunk_10_01_blocksize_is_rounded_down_to_a_multiple_of_the_typesize() {
    for filter in [0, SHUFFLE, BITSHUFFLE] {
        let filters = pipeline(&[filter]);
        let params = Params { typesize: 4, blocksize: 1001, filters, ..Params::default() };
        check_blocksize(params.clone(), &data(Data::Ramp, 4, 10_000), 1000);
        check_blocksize(params.clone(), &data(Data::Text, 4, 10_003), 1000);
        // filters.md D10.
        check_blocksize(Params { blocksize: 1002, ..params }, &data(Data::Ramp, 4, 4008), 1000);
    }
}

#[test]
fn chunk_10_01_blocksize_above_the_source_size_is_reduced() {
    let params = Params { typesize: 4, blocksize: 2000, ..Params::default() };
    check_blocksize(params.clone(), &data(Data::Ramp, 4, 1003), 1000);
    check_blocksize(Params { typesize: 12, ..params }, &data(Data::Text, 4, 1003), 996);
}

#[test]
fn chunk_10_01_source_shorter_than_an_item_has_blocksize_1() {
    let params = Params { typesize: 100, blocksize: 64, ..Params::default() };
    check_blocksize(params, &data(Data::Ramp, 4, 45), 1);
}

/// The block size of one call is the request of the next, whatever it was rounded to (check 8).
#[test]
fn chunk_10_01_reused_context_keeps_its_reduced_blocksize() {
    for codec in CODECS {
        for requested in [0, 2000] {
            let params = Params { codec, typesize: 4, blocksize: requested, ..Params::default() };
            let mut context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
            for (nbytes, blocksize) in [(2000, 2000), (1003, 1000), (2000, 1000), (5001, 1000)] {
                let src = data(Data::Ramp, 4, nbytes);
                let (rc, dest) =
                    with_destination(large_destsize(nbytes), |dest| context.compress(&src, dest));
                let chunk = &dest[..rc as usize];
                assert_eq!(Header::parse(chunk).blocksize, blocksize, "codec {codec}, {nbytes} bytes");
                assert_all_decode(chunk, &src);
            }
        }
    }
}

/// A block size of 1, which results from an empty source, is not kept (check 9).
#[test]
fn chunk_10_01_degenerate_blocksize_is_not_inherited() {
    let src = data(Data::Ramp, 8, 100_000);
    let mut context = OwnedContext::for_compression(ours(), Params::default().cparams()).expect("a context");
    let fresh = compressed(&Params::default(), &src);
    for short in [0, 7] {
        let (rc, _) = with_destination(100, |dest| context.compress(&src[..short], dest));
        assert_eq!(rc, 32 + short as i32);
        let (rc, dest) = with_destination(large_destsize(src.len()), |dest| context.compress(&src, dest));
        assert!(dest[..rc as usize] == fresh, "after {short} bytes: {rc} bytes, {} without", fresh.len());
    }
}

/// Requests around the typesize (check 10): no stream may be empty, and data must not be encoded as zeros.
#[test]
fn chunk_10_29_blocks_below_the_typesize_are_not_split() {
    for (typesize, requested, nbytes) in [
        (4, 3, 48),
        (4, 3, 300),
        (4, 3, 301),
        (100, 20, 45),
        (100, 20, 2000),
        (100, 99, 1980),
        (255, 1, 64),
        (8, 0, 7),
        (200, 0, 150),
    ] {
        for codec in CODECS {
            for splitmode in 1..=4 {
                for filter in [0, SHUFFLE, BITSHUFFLE] {
                    let mut src = data(Data::Noise, 1, nbytes);
                    // Every block begins with a zero byte, which alone would be encoded as a run of zeros.
                    if requested > 1 {
                        src.iter_mut().step_by(requested).for_each(|byte| *byte = 0);
                    }
                    let params = Params {
                        codec,
                        splitmode,
                        typesize,
                        blocksize: requested as i32,
                        filters: pipeline(&[filter]),
                        ..Params::default()
                    };
                    let chunk = compressed(&params, &src);
                    let header = Header::parse(&chunk);
                    assert_eq!(header.special(), 0, "{params:?}");
                    assert!(header.is_memcpyed() || header.flags & 0x10 != 0, "{params:?}: split");
                    assert_all_decode(&chunk, &src);
                }
            }
        }
    }
}

/// Block starts that would need more than 2^31 bytes.
#[cfg(unix)]
#[test]
fn chunk_10_21_too_many_blocks_for_a_chunk_are_rejected() {
    const NBYTES: usize = 600 << 20;
    // SAFETY: a new mapping at an address chosen by the system; untouched pages use no memory.
    let zeros = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let at = libc::mmap(std::ptr::null_mut(), NBYTES, libc::PROT_READ, flags, -1, 0);
        assert_ne!(at, libc::MAP_FAILED, "mmap");
        std::slice::from_raw_parts(at.cast::<u8>(), NBYTES)
    };
    let params = Params { typesize: 1, blocksize: 1, codec: 1, ..Params::default() };
    for nthreads in [1, 4] {
        let params = Params { nthreads, ..params.clone() };
        let mut context = OwnedContext::for_compression(ours(), params.cparams()).expect("a context");
        let (rc, _) = with_destination(10_000, |dest| context.compress(zeros, dest));
        assert_eq!(rc, 0, "block starts of {NBYTES} blocks, or the data, in 10000 bytes");
    }
    // Special chunks have no block starts.
    let chunk = special_chunk(ours(), &params, Special::Zeros, NBYTES as i32, 32).expect("zeros");
    assert_eq!(Header::parse(&chunk).blocksize, 1);
    assert_eq!(getitem(ours(), 1, &chunk, NBYTES as i32 - 5, 5, 5), Ok(vec![0; 5]));
    // A header that claims them is rejected before anything is computed from them.
    let mut claim = chunk.clone();
    claim[0x1F] = 0;
    for at in [4, 12] {
        claim[at..at + 4].copy_from_slice(&(i32::MAX - 40).to_le_bytes());
    }
    claim.resize(64, 0);
    let mut reader = OwnedContext::for_decompression(ours(), dparams(1));
    // SAFETY: the sizes are wrong and must be rejected by the header check; nothing may be read or written there.
    let rc = unsafe {
        let mut byte = 0u8;
        (ours().blosc2_decompress_ctx)(
            reader.raw(),
            claim.as_ptr().cast(),
            64,
            (&raw mut byte).cast(),
            i32::MAX,
        )
    };
    assert!(rc == -11 || rc == -6, "{rc}");
    let (rc, _) = with_destination(8, |dest| reader.getitem(&claim, 0, 8, dest));
    assert_eq!(rc, -11);
    // SAFETY: exactly the mapping made above, which is not used afterwards.
    unsafe { libc::munmap(zeros.as_ptr().cast_mut().cast(), NBYTES) };
}

#[test]
fn chunk_10_27_blocksize_above_the_limit_is_reduced_or_rejected() {
    let src = data(Data::Ramp, 8, 1000);
    for blocksize in [536_866_817, i32::MAX] {
        let params = Params { blocksize, ..Params::default() };
        // The request exceeds the source, so the effective size is valid.
        let chunk = compressed(&params, &src);
        assert_eq!(Header::parse(&chunk).blocksize, 1000);
        assert_all_decode(&chunk, &src);
        let vl =
            vlcompress(ours(), &params, std::slice::from_ref(&src), large_destsize(1000)).expect("a chunk");
        assert_eq!(decompress(ours(), 1, &vl, 1000).as_deref(), Ok(&src[..]));
    }
    // The maximum is written and read; above it nothing is written.
    for (blocksize, expected) in [(536_866_816, 32), (536_866_817, -12)] {
        let params = Params { blocksize, typesize: 1, ..Params::default() };
        let outcome = special_chunk(ours(), &params, Special::Zeros, 1 << 30, 32);
        match outcome {
            Ok(chunk) => {
                assert_eq!(chunk.len(), expected as usize);
                assert_eq!(Header::parse(&chunk).blocksize, blocksize);
                assert_eq!(getitem(ours(), 1, &chunk, (1 << 30) - 4, 4, 4), Ok(vec![0; 4]));
            }
            Err(code) => assert_eq!(code, expected),
        }
    }
    in_new_process(test_name!(), || {
        let src = data(Data::Ramp, 8, 1000);
        for blocksize in [536_866_817usize, i32::MAX as usize, u32::MAX as usize, usize::MAX, 1 << 31, 3] {
            let (rc, dest) = with_destination(large_destsize(1000), |dest| {
                // SAFETY: a source and a destination with their true lengths.
                unsafe {
                    (ours().blosc1_set_blocksize)(blocksize);
                    let (len, room) = (src.len() as i32, dest.len() as i32);
                    (ours().blosc2_compress)(
                        5,
                        1,
                        8,
                        src.as_ptr().cast(),
                        len,
                        dest.as_mut_ptr().cast(),
                        room,
                    )
                }
            });
            if rc != -12 {
                assert!(rc > 0, "{blocksize}: {rc}");
                assert_all_decode(&dest[..rc as usize], &src);
            }
        }
    });
}
