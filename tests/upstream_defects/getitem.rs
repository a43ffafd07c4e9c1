//! Partial reads (chunk.md 10.4, 10.5, 10.14, check 26).

use crate::checks::{
    BITSHUFFLE, CODECS, DELTA, SHUFFLE, TRUNC_PREC, assert_items_in_all_contexts, compressed, data, ours,
    pipeline,
};
use crate::support::calls::{
    Header, OwnedContext, Params, Special, decompress, dparams, getitem, getitem_bytes, special_chunk,
    with_destination,
};
use crate::support::data::Data;

#[test]
fn chunk_10_04_getitem_across_block_boundaries_returns_the_items() {
    // Blocks of 250 items of 4 bytes, and a last one of 130.
    let src = data(Data::SmoothFloats, 4, 4 * (4 * 250 + 130));
    for codec in CODECS {
        for filter in [0, SHUFFLE, BITSHUFFLE] {
            let params = Params {
                codec,
                typesize: 4,
                blocksize: 1000,
                filters: pipeline(&[filter]),
                ..Params::default()
            };
            let chunk = compressed(&params, &src);
            for (start, nitems) in [(125, 250), (1, 250), (249, 250), (130, 500), (950, 130), (999, 130)] {
                for nthreads in [1, 4] {
                    let items = getitem(ours(), nthreads, &chunk, start, nitems, 4 * nitems as usize);
                    let expected = &src[4 * start as usize..][..4 * nitems as usize];
                    assert!(items.as_deref() == Ok(expected), "codec {codec}: {start}+{nitems}");
                }
            }
        }
    }
}

/// Every pair of start and length on a chunk of four blocks and a shorter one (check 26).
#[test]
fn chunk_10_04_getitem_reads_every_part_of_a_chunk() {
    let pipelines: [&[u8]; 6] =
        [&[], &[SHUFFLE], &[BITSHUFFLE], &[DELTA, SHUFFLE], &[DELTA], &[SHUFFLE, DELTA, BITSHUFFLE]];
    for (typesize, codec) in [(4, 1), (300, 5), (1, 0), (12, 4)] {
        for filters in pipelines {
            let mut src = data(Data::SmoothFloats, 4, if typesize == 300 { 1300 } else { 135 * typesize });
            // Zeros in three of five blocks, so that the chunk is not stored.
            let blocksize = if typesize == 300 { 300 } else { 32 * typesize };
            for nblock in [0, 2, 3] {
                src[nblock * blocksize..][..blocksize].fill(0);
            }
            let params = Params {
                codec,
                typesize: typesize as i32,
                blocksize: blocksize as i32,
                filters: pipeline(filters),
                ..Params::default()
            };
            let chunk = compressed(&params, &src);
            assert!(!Header::parse(&chunk).is_memcpyed());
            let unit = usize::from(chunk[3]);
            let nitems = src.len() / unit;
            let mut contexts = [1, 4].map(|n| OwnedContext::for_decompression(ours(), dparams(n)));
            let step = if typesize == 300 { 23 } else { 1 };
            for start in (0..=nitems).step_by(step) {
                for len in (0..=nitems - start).step_by(step) {
                    let expected = &src[start * unit..(start + len) * unit];
                    let context = &mut contexts[(start + len) % 2];
                    let mut dest = vec![0xCC; expected.len() + 1];
                    let rc = context.getitem(&chunk, start as i32, len as i32, &mut dest);
                    assert!(
                        rc == expected.len() as i32 && dest[..expected.len()] == *expected,
                        "typesize {typesize}, {filters:?}: {start}+{len}: {rc}"
                    );
                    assert_eq!(dest[expected.len()], 0xCC, "one byte too many");
                }
            }
        }
    }
}

#[test]
fn chunk_10_05_filters_d3_getitem_of_delta_chunks_returns_the_items() {
    for filters in [&[DELTA][..], &[DELTA, SHUFFLE], &[SHUFFLE, DELTA], &[DELTA, DELTA], &[1, 2, 3, 2]] {
        for (codec, typesize) in [(0, 4), (1, 8), (5, 3)] {
            let params =
                Params { codec, typesize, blocksize: 4080, filters: pipeline(filters), ..Params::default() };
            let src = data(Data::Sparse, typesize as usize, 100_001);
            let chunk = compressed(&params, &src);
            assert!(!Header::parse(&chunk).is_memcpyed());
            assert_eq!(decompress(ours(), 1, &chunk, src.len()).as_deref(), Ok(&src[..]), "{filters:?}");
            assert_items_in_all_contexts(&chunk, &src);
        }
    }
}

/// The repeated value continues at the start of the part, and a part may contain incomplete values.
#[test]
fn chunk_10_14_getitem_of_a_value_wider_than_the_item() {
    // Items of 300 bytes are treated as items of 1 byte.
    let value: Vec<u8> = (0..300u32).map(|i| (i * 7 + 3) as u8).collect();
    let params = Params { typesize: 300, ..Params::default() };
    let chunk = special_chunk(ours(), &params, Special::Value(&value), 9000, 400).expect("a chunk");
    let decoded = decompress(ours(), 1, &chunk, 9000).expect("its content");
    assert!(decoded.chunks(300).all(|item| item == value));
    for (start, nitems) in
        [(0, 300), (1, 300), (299, 2), (450, 300), (7, 1), (123, 777), (8999, 1), (0, 9000)]
    {
        let expected = &decoded[start as usize..][..nitems as usize];
        let items = getitem(ours(), 1, &chunk, start, nitems, nitems as usize);
        assert_eq!(items.as_deref(), Ok(expected), "{start}+{nitems}");
        let bytes = getitem_bytes(ours(), &chunk, start, nitems, nitems as usize);
        assert_eq!(bytes.as_deref(), Ok(expected), "{start}+{nitems}");
    }
    // A value of 12 bytes in a chunk whose header states items of 8 bytes.
    let params = Params { typesize: 12, ..Params::default() };
    let mut chunk = special_chunk(ours(), &params, Special::Value(&value[..12]), 1200, 44).expect("a chunk");
    chunk[3] = 8;
    let decoded = decompress(ours(), 1, &chunk, 1200).expect("its content");
    assert!(decoded.chunks(12).all(|item| item == &value[..12]));
    assert_items_in_all_contexts(&chunk, &decoded);
}

/// Parts of special and uncompressed chunks (check 26), written by our library and by the reference.
#[test]
fn chunk_10_14_getitem_of_special_and_memcpyed_chunks() {
    let value = 3.5f32.to_le_bytes();
    let params = Params { typesize: 4, blocksize: 1000, ..Params::default() };
    let specials = [Special::Zeros, Special::Nans, Special::Value(&value)];
    for library in crate::support::all_libraries() {
        for special in specials {
            let chunk = special_chunk(library, &params, special, 10_000, 100).expect("a chunk");
            let decoded = decompress(ours(), 1, &chunk, 10_000).expect("its content");
            assert_items_in_all_contexts(&chunk, &decoded);
        }
        let uninit = special_chunk(library, &params, Special::Uninit, 10_000, 100).expect("a chunk");
        // The destination is not written.
        assert_eq!(
            getitem(ours(), 1, &uninit, 7, 3, 12),
            Ok(vec![crate::support::calls::DEST_FILL_BYTE; 12])
        );
        let src = data(Data::Noise, 4, 10_000);
        let params = Params { clevel: 0, ..params.clone() };
        let plain = crate::support::calls::compress(library, &params, &src, 10_032).expect("a chunk");
        assert_items_in_all_contexts(&plain, &src);
    }
}

/// The order of the argument checks (check 27).
#[test]
fn chunk_10_04_invalid_getitem_arguments_are_rejected() {
    let src = data(Data::Ramp, 4, 4000);
    let chunk = compressed(&Params { typesize: 4, blocksize: 1000, ..Params::default() }, &src);
    let mut context = OwnedContext::for_decompression(ours(), dparams(1));
    for (start, nitems, destsize, expected) in [
        (0, -1, 100, -12),
        (-1, 1, 100, -12),
        (-1, 0, 100, 0),
        (i32::MIN, 0, 0, 0),
        (i32::MAX, 0, 0, 0),
        (1000, 1, 100, -12),
        (999, 2, 100, -12),
        (0, 2, 7, -6),
        (0, 1001, 10_000, -12),
        (i32::MAX, i32::MAX, 100, -6),
        (i32::MIN, i32::MAX, 100, -6),
        (i32::MIN, 1, 100, -12),
        (i32::MAX, 1, 100, -12),
        (1000, 0, 100, 0),
        (0, i32::MIN, 100, -12),
    ] {
        let (rc, dest) = with_destination(destsize, |dest| context.getitem(&chunk, start, nitems, dest));
        assert_eq!(rc, expected, "{start}+{nitems} into {destsize}");
        assert!(dest.iter().all(|&byte| byte == crate::support::calls::DEST_FILL_BYTE), "{start}+{nitems}");
    }
    for (start, nbytes, expected) in
        [(2, 4, -12), (4, 2, -12), (2, 0, -12), (-4, 4, -12), (0, -4, -12), (4, 0, 0)]
    {
        let (rc, _) = with_destination(100, |dest| context.getitem_bytes(&chunk, start, nbytes, dest));
        assert_eq!(rc, expected, "bytes {start}+{nbytes}");
    }
}

/// Data that a lossy filter changed: parts equal the decompressed whole.
#[test]
fn chunk_10_05_getitem_equals_decompression_after_a_lossy_filter() {
    let mut src = data(Data::SmoothFloats, 4, 50_000);
    if cfg!(target_endian = "big") {
        src.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    }
    let mut params = Params {
        codec: 5,
        typesize: 4,
        blocksize: 4096,
        filters: pipeline(&[TRUNC_PREC, DELTA, SHUFFLE]),
        ..Params::default()
    };
    params.filters_meta[3] = 10;
    let chunk = compressed(&params, &src);
    let decoded = decompress(ours(), 1, &chunk, src.len()).expect("its content");
    for (got, was) in decoded.chunks_exact(4).zip(src.chunks_exact(4)) {
        let value = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        let (got, was) = (value(got), value(was));
        assert!((got - was).abs() <= was.abs() / 1024.0, "{got} for {was}");
    }
    assert_items_in_all_contexts(&chunk, &decoded);
}
