//! Special chunks, the functions without a context, the raw shuffles, and contexts that are reused.

use crate::support::calls::{
    Header, OwnedContext, Params, Special, decompress, dparams, special_chunk, with_destination,
};
use crate::support::data::Data;
use crate::support::known_defects as defects;
use crate::support::library::Library;
use crate::support::random::Random;
use crate::{CODECS, TYPESIZES, assert_bytes, assert_decodes, pick_blocksize};

#[test]
fn special_chunks_are_byte_equal() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(5);
    for round in 0..400 {
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = match random.below(4) {
            0 => 0,
            1 => typesize * random.below(100) as i32,
            2 => random.below(5_000_000) as i32 / typesize * typesize,
            _ => random.below(100_000) as i32,
        };
        let params = Params {
            codec: *random.pick(&CODECS),
            clevel: random.below(11) as u8,
            typesize,
            blocksize: pick_blocksize(random, typesize, nbytes as usize),
            splitmode: 1 + random.below(4) as i32,
            filters: [0, 0, 0, 0, 0, random.below(3) as u8],
            ..Params::default()
        };
        let value = random.bytes(typesize as usize);
        let destsize = *random.pick(&[31, 32, 32 + typesize as usize - 1, 32 + typesize as usize, 1000]);
        for special in [Special::Zeros, Special::Nans, Special::Uninit, Special::Value(&value)] {
            let what =
                format!("round {round}: {special:?} of {nbytes} bytes, destsize {destsize}, {params:?}");
            let mine = special_chunk(ours, &params, special, nbytes, destsize);
            let mut theirs = special_chunk(reference, &params, special, nbytes, destsize);
            let has_value = matches!(special, Special::Value(_));
            if let (Ok(mine), Ok(theirs)) = (&mine, &mut theirs)
                && (!defects::is_header_blocksize_right(&params, nbytes)
                    || has_value && !defects::value_chunk_verdict(&params, &Header::parse(theirs)).is_right())
            {
                theirs[8..12].copy_from_slice(&mine[8..12]);
            }
            assert_eq!(mine, theirs, "{what}");
            let Ok(chunk) = mine else { continue };
            if has_value && nbytes > 0 {
                assert!(defects::value_chunk_verdict(&params, &Header::parse(&chunk)).is_right(), "{what}");
            }
            let (a, b) = (
                decompress(ours, 4, &chunk, nbytes as usize),
                decompress(reference, 1, &chunk, nbytes as usize),
            );
            assert_eq!(a, b, "decoding: {what}");
        }
    }
}

/// The functions without a context: the same settings, both directions, the same errors.
#[test]
fn functions_without_a_context_agree_with_the_reference() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(6);
    for round in 0..200 {
        let typesize = *random.pick(&TYPESIZES);
        let nbytes = *random.pick(&[0, 1, 31, 32, 33, 4096, 65_535, 20_000]);
        let (clevel, doshuffle) = (random.below(12) as i32 - 1, random.below(4) as i32);
        let data = random.pick(&Data::ALL).generate(random, typesize as usize, nbytes);
        let destsize = *random.pick(&[16, 31, 32, nbytes + 32, nbytes + 4096, nbytes + (64 << 10)]);
        let what = format!(
            "round {round}: clevel {clevel}, shuffle {doshuffle}, typesize {typesize}, {nbytes} bytes into {destsize}"
        );
        let [mine, theirs] = [ours, reference].map(|library| {
            // SAFETY: a source and a destination with their true lengths.
            let (rc, mut dest) = with_destination(destsize, |dest| unsafe {
                (library.blosc2_compress)(
                    clevel,
                    doshuffle,
                    typesize,
                    data.as_ptr().cast(),
                    data.len() as i32,
                    dest.as_mut_ptr().cast(),
                    dest.len() as i32,
                )
            });
            if rc > 0 {
                dest.truncate(rc as usize);
                Ok(dest)
            } else {
                Err(rc)
            }
        });
        match (&mine, &theirs) {
            (Ok(mine), Ok(theirs)) => {
                let (a, b) = (Header::parse(mine), Header::parse(theirs));
                assert_eq!(a.flags & !2, b.flags & !2, "{what}");
                assert_eq!(
                    (a.filters, a.typesize, a.blocksize),
                    (b.filters, b.typesize, b.blocksize),
                    "{what}"
                );
            }
            (Err(mine), Err(theirs)) => assert_eq!(mine, theirs, "{what}"),
            // Only if the result depends on the efficiency of the codec.
            _ => assert!(
                destsize < nbytes + 32,
                "{:?} {:?} {what}",
                mine.as_ref().err(),
                theirs.as_ref().err()
            ),
        }
        for (chunk, writer) in [(&mine, "ours"), (&theirs, "the reference")] {
            let Ok(chunk) = chunk else { continue };
            for library in [ours, reference] {
                for destsize in [nbytes, nbytes + 10] {
                    // SAFETY: as above.
                    let (rc, dest) = with_destination(destsize, |dest| unsafe {
                        (library.blosc2_decompress)(
                            chunk.as_ptr().cast(),
                            chunk.len() as i32,
                            dest.as_mut_ptr().cast(),
                            dest.len() as i32,
                        )
                    });
                    assert_eq!(rc, nbytes as i32, "{} reads {writer}: {what}", library.name);
                    assert_bytes(&what, &dest[..nbytes], &data);
                }
                let items = nbytes as i32 / i32::from(chunk[3]);
                let len = items as usize * usize::from(chunk[3]);
                // SAFETY: as above.
                let (rc, dest) = with_destination(len, |dest| unsafe {
                    (library.blosc2_getitem)(
                        chunk.as_ptr().cast(),
                        chunk.len() as i32,
                        0,
                        items,
                        dest.as_mut_ptr().cast(),
                        dest.len() as i32,
                    )
                });
                assert_eq!(rc, len as i32, "{} getitem of {writer}: {what}", library.name);
                assert_bytes(&what, &dest, &data[..len]);
            }
        }
    }
}

/// The raw shuffle functions, every typesize, lengths around multiples of the vector and block sizes.
#[test]
fn raw_shuffles_are_byte_equal() {
    let Some((ours, reference)) = crate::support::both_libraries() else { return };
    let random = &mut Random::new(7);
    let source = random.bytes(70_000);
    for typesize in 1..=256usize {
        let lengths =
            [0, 1, typesize - 1, typesize, 7 * typesize, 8 * typesize, 9 * typesize - 1, 64 * typesize + 1];
        for len in lengths.into_iter().chain([random.below(20_000), random.below(70_000)]) {
            let offset = random.below(64.min(source.len() - len + 1));
            let src = &source[offset..offset + len];
            for which in 0..4 {
                let [a, b] = [ours, reference].map(|library| {
                    let function = match which {
                        0 => library.blosc2_shuffle,
                        1 => library.blosc2_unshuffle,
                        2 => library.blosc2_bitshuffle,
                        _ => library.blosc2_bitunshuffle,
                    };
                    // SAFETY: source and destination of `len` bytes that do not overlap.
                    with_destination(len, |dest| unsafe {
                        function(typesize as i32, len as i32, src.as_ptr().cast(), dest.as_mut_ptr().cast())
                    })
                });
                assert_eq!(a.0, len as i32);
                assert_eq!(a.0, b.0);
                assert_bytes(&format!("function {which}, typesize {typesize}, {len} bytes"), &a.1, &b.1);
            }
        }
    }
}

/// One context for many sizes: the context keeps the block size, and every chunk decodes (chunk.md 11.8, 11.9,
/// 11.11).
#[test]
fn reused_context_writes_decodable_chunks() {
    let random = &mut Random::new(9);
    let ours = Library::ours();
    if ours.is_reference() {
        // The reference writes wrong block sizes here (chunk.md 10.1).
        return;
    }
    for round in 0..60 {
        let typesize = *random.pick(&[1, 4, 8, 300]);
        let params = Params {
            codec: *random.pick(&CODECS),
            typesize,
            nthreads: *random.pick(&[1, 4]),
            blocksize: *random.pick(&[0, 0, 1000]),
            ..Params::default()
        };
        let mut writer = OwnedContext::for_compression(ours, params.cparams()).expect("a context");
        let mut reader = OwnedContext::for_decompression(ours, dparams(*random.pick(&[1, 4])));
        for _ in 0..8 {
            let len = *random.pick(&[0, 3, 1003, 2000, 2000, 100_000, 40]);
            let src = random.pick(&Data::ALL).generate(random, typesize as usize, len);
            let (rc, dest) = with_destination(len + 32 + random.below(2) * (len + 4096), |dest| {
                writer.compress(&src, dest)
            });
            assert!(rc > 0, "round {round}: {rc} for {len} bytes, {params:?}");
            let chunk = &dest[..rc as usize];
            let (rc, decoded) = with_destination(len, |dest| reader.decompress(chunk, dest));
            assert_eq!(rc, len as i32, "round {round}: {params:?}");
            assert_bytes("a reused context", &decoded, &src);
            if let Some((_, reference)) = crate::support::both_libraries() {
                assert_decodes("the reference reads it", decompress(reference, 1, chunk, len), &src);
            }
            if len > typesize as usize {
                let start = random.below(len / usize::from(chunk[3])) as i32;
                let unit = usize::from(chunk[3]);
                let (rc, item) = with_destination(unit, |dest| reader.getitem(chunk, start, 1, dest));
                assert_eq!(rc, unit as i32);
                assert_bytes("an item", &item, &src[start as usize * unit..][..unit]);
            }
        }
    }
}
