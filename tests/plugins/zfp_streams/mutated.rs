//! Damaged and random streams: no panic, no access outside the buffers, and, unless the reference reads past the end,
//! the values of the reference.

use blosc2::error::ErrorKind;
use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};

use super::Case;
use super::blocks::{BlockEncoding, ReferenceCodec};
use super::values::Values;
use crate::support;
use crate::support::random::{Random, from_environment};

#[test]
fn damaged_streams_give_the_values_of_the_reference_or_an_error() {
    let seed = from_environment("ZFP_SEED", 1);
    let reference = support::both_libraries().map(|(_, library)| library);
    let (mut good, mut bad) = (0, 0);
    for number in 0..from_environment("ZFP_CASES", 1500) / 5 {
        let mut random = Random::of_item(seed ^ 0xbad, number);
        let case = Case::random(&mut random);
        let kind = *random.pick(&Values::ALL);
        let block = kind.generate(&mut random, case.typesize as usize, case.count());
        let BlockEncoding::Coded(stream) = case.encode(&block) else { continue };
        let whole = stream.len();
        let reference = reference.map(|library| ReferenceCodec::new(library, case.zfp, case.geometry()));
        for _ in 0..20 {
            let stream = damage_stream(&mut random, &stream);
            // The reference treats a stream of the size of the block as uncompressed.
            if stream.is_empty() || stream.len() == case.nbytes() {
                continue;
            }
            let what = format!("case {number}: {case:?}");
            let mut dest = vec![0x5a; case.nbytes() + 16];
            let nbytes = case.nbytes();
            match case.zfp.decode(case.geometry(), &stream, &mut dest[..nbytes]) {
                Ok(len) => {
                    assert_eq!(len, nbytes, "{what}");
                    good += 1;
                    // With a truncated last word the reference reads past the end.
                    if let Some(reference) = reference.as_ref().filter(|_| stream.len().is_multiple_of(8)) {
                        let theirs = reference.decompress(&reference.wrap_stream(&stream));
                        assert!(theirs.as_deref() == Ok(&dest[..nbytes]), "values differ, {what}");
                    }
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Data, "{what}: {error}");
                    bad += 1;
                    // In the other modes the reference reads bytes behind the stream.
                    if let Some(reference) = reference.as_ref().filter(|_| case.zfp.mode == Mode::Rate) {
                        let theirs = reference.decompress(&reference.wrap_stream(&stream));
                        assert_eq!(theirs, Err(ErrorKind::Data.code()), "{what}");
                    }
                }
            }
            assert!(dest[nbytes..].iter().all(|&byte| byte == 0x5a), "written behind the block, {what}");
            if case.zfp.mode == Mode::Rate {
                let start = random.below(case.count());
                let mut item = vec![0; case.typesize as usize];
                let items = start..start + 1;
                let done = case.zfp.decode_items(case.geometry(), &stream, items, &mut item);
                assert!(done.is_ok_and(|done| done) || stream.len() < whole, "{what}");
            }
        }
    }
    assert!(good > 0 && bad > 0, "{good} decoded, {bad} rejected");
}

fn damage_stream(random: &mut Random, stream: &[u8]) -> Vec<u8> {
    let mut stream = stream.to_vec();
    match random.below(4) {
        0 => stream.truncate(random.below(stream.len() + 1)),
        1 => stream.truncate(random.below(stream.len() / 8 + 1) * 8),
        2 => stream = random.bytes(stream.len()),
        _ => {}
    }
    if !stream.is_empty() && !random.one_in(3) {
        for _ in 0..1 + random.below(5) {
            let at = random.below(stream.len());
            stream[at] ^= 1 << random.below(8);
        }
    }
    stream
}

#[test]
fn invalid_shapes_are_rejected() {
    let zfp = Zfp { mode: Mode::Rate, meta: 50 };
    let (stream, mut dest) = (vec![0xff; 4096], vec![0; 4096]);
    let shapes: [&[i32]; 11] = [
        &[],
        &[4, 4, 4, 4, 4],
        &[0],
        &[-4],
        &[i32::MIN, 4],
        &[4, 0, 4],
        &[i32::MAX; 4],
        &[i32::MAX, i32::MAX, 4, 4],
        &[i32::MAX, i32::MAX],
        &[64, 65],
        &[8, 8],
    ];
    for shape in shapes {
        for typesize in [4, 8] {
            let geometry = ZfpGeometry { blockshape: shape, typesize };
            let rc = zfp.decode(geometry, &stream, &mut dest).map_err(|error| error.kind());
            assert_eq!(rc, Err(ErrorKind::Failure), "decode {geometry:?}");
            let encoded = zfp.encode(geometry, &stream, &mut dest).map_err(|error| error.kind());
            let too_large = !shape.is_empty() && shape.len() <= 4 && shape.iter().all(|&extent| extent >= 4);
            // Shapes whose product overflows are invalid; for the other ones only the size of the buffer is wrong.
            assert!(
                encoded == Err(ErrorKind::Failure) || (too_large && encoded == Ok(0)),
                "encode {geometry:?} gives {encoded:?}"
            );
            for item in [0, 5000, usize::MAX - 1] {
                let items = item..item + 1;
                let room = &mut [0; 8][..typesize as usize];
                let rc = zfp.decode_items(geometry, &stream, items, room);
                assert!(!matches!(rc, Ok(true)) || item == 0, "{geometry:?}, item {item}");
            }
        }
    }
    for typesize in [i32::MIN, -8, -4, 0, 1, 2, 3, 5, 16] {
        let geometry = ZfpGeometry { blockshape: &[8, 8], typesize };
        let rc = zfp.decode(geometry, &stream, &mut dest).map_err(|error| error.kind());
        assert_eq!(rc, Err(ErrorKind::Failure), "type size {typesize}");
        let src = vec![0; 64 * typesize.clamp(0, 64) as usize];
        let rc = zfp.encode(geometry, &src, &mut dest).map_err(|error| error.kind());
        // For an invalid type size there is no block of that size.
        assert_eq!(rc, if typesize < 0 { Ok(0) } else { Err(ErrorKind::Failure) }, "type size {typesize}");
    }
}

#[test]
fn streams_fit_or_are_refused_at_any_address() {
    let mut random = Random::new(from_environment("ZFP_SEED", 1));
    for _ in 0..100 {
        let case = Case::random(&mut random);
        let block = Values::Smooth.generate(&mut random, case.typesize as usize, case.count());
        let BlockEncoding::Coded(stream) = case.encode(&block) else { continue };
        let values = case.decode(&stream);
        for shift in 0..9 {
            let (mut src, mut room) = (vec![0; shift], vec![0x5a; shift + stream.len() + 8]);
            src.extend_from_slice(&block);
            for missing in [0, 1, 8] {
                let dest = &mut room[shift..shift + stream.len() - missing];
                let len = case.zfp.encode(case.geometry(), &src[shift..], dest).expect("fine");
                assert_eq!(len, if missing == 0 { stream.len() } else { 0 }, "{case:?}");
                assert!(missing > 0 || dest == stream, "{case:?} at {shift}");
            }
            assert_eq!(room[shift + stream.len()..], [0x5a; 8]);
            let mut odd = vec![0; shift];
            odd.extend_from_slice(&stream);
            let mut room = vec![0x5a; shift + block.len() + 8];
            let dest = &mut room[shift..shift + block.len()];
            case.zfp.decode(case.geometry(), &odd[shift..], dest).expect("a good stream");
            assert!(dest == values, "{case:?} at {shift}");
            assert_eq!(room[shift + block.len()..], [0x5a; 8]);
        }
    }
}
