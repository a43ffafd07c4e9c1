//! ZFP against the reference, block by block: the same streams, byte for byte, from the same values, and the same
//! values from the same streams; items of fixed-rate streams; damaged streams.
//!
//! `ZFP_CASES` is the number of shapes, `ZFP_SEED` the seed of the sample.

mod blocks;
mod mutated;
mod values;
mod vectors;

use blosc2::internals::zfp::{Mode, Zfp, ZfpGeometry};

use crate::support::random::{Random, from_environment};
use blocks::{BlockEncoding, ReferenceCodec};
use values::Values;

const MODES: [Mode; 3] = [Mode::Accuracy, Mode::Precision, Mode::Rate];

/// A codec and a shape.
#[derive(Clone, Debug)]
struct Case {
    zfp: Zfp,
    blockshape: Vec<i32>,
    typesize: i32,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let ndim = 1 + random.below(4);
        let most = [300, 40, 18, 11][ndim - 1];
        // Chunks below 32 bytes are never compressed.
        let least = if ndim == 1 { 8 } else { 4 };
        let blockshape = (0..ndim).map(|_| (least + random.below(most - least + 1)) as i32).collect();
        let mode = *random.pick(&MODES);
        let meta = match mode {
            // Tolerances around the usual values are drawn more often than extreme ones.
            Mode::Accuracy if !random.one_in(4) => (random.below(20) as i8 - 14) as u8,
            Mode::Accuracy => random.byte(),
            Mode::Precision => random.below(70) as u8,
            Mode::Rate if !random.one_in(8) => random.below(100) as u8,
            Mode::Rate => random.byte(),
        };
        let typesize = if random.one_in(2) { 4 } else { 8 };
        Case { zfp: Zfp { mode, meta }, blockshape, typesize }
    }

    fn geometry(&self) -> ZfpGeometry<'_> {
        ZfpGeometry { blockshape: &self.blockshape, typesize: self.typesize }
    }

    fn count(&self) -> usize {
        self.blockshape.iter().product::<i32>() as usize
    }

    fn nbytes(&self) -> usize {
        self.count() * self.typesize as usize
    }

    fn encode(&self, src: &[u8]) -> BlockEncoding {
        let mut dest = vec![0; src.len()];
        match self.zfp.encode(self.geometry(), src, &mut dest) {
            Ok(0) => BlockEncoding::Raw,
            Ok(len) => BlockEncoding::Coded(dest[..len].to_vec()),
            Err(error) => panic!("{self:?}: {error}"),
        }
    }

    fn decode(&self, stream: &[u8]) -> Vec<u8> {
        let mut dest = vec![0x5a; self.nbytes()];
        let len = self.zfp.decode(self.geometry(), stream, &mut dest);
        assert_eq!(len.unwrap_or_else(|error| panic!("{self:?}: {error}")), dest.len());
        dest
    }

    /// Returns whether the reference's encoder stays inside its buffers (codecs.md 18.3).
    fn is_safe_for_reference(&self) -> bool {
        if self.zfp.mode != Mode::Rate {
            return true;
        }
        let cells: i32 = self.blockshape.iter().map(|extent| (extent + 3) / 4).product();
        let bits = f64::from(self.zfp.meta) / 100.0 * f64::from(8 * self.typesize);
        f64::from(cells) * bits * 4f64.powi(self.blockshape.len() as i32) < 8.0 * self.nbytes() as f64
    }

    /// Returns whether some cell is so small that the reference loses its values and our library does not (codecs.md
    /// 10.9): its values are not all zero, and the largest is below 2^-98 (2^-962).
    fn has_tiny_cells(&self, block: &[u8]) -> bool {
        let least = if self.typesize == 4 { 2f64.powi(-98) } else { 2f64.powi(-962) };
        let mut cells = std::collections::BTreeMap::<Vec<usize>, f64>::new();
        for (at, bytes) in block.chunks_exact(self.typesize as usize).enumerate() {
            let value = match self.typesize {
                4 => f64::from(f32::from_ne_bytes(bytes.try_into().expect("a float"))),
                _ => f64::from_ne_bytes(bytes.try_into().expect("a double")),
            };
            let (mut rest, mut cell) = (at, Vec::new());
            for &extent in self.blockshape.iter().rev() {
                cell.push(rest % extent as usize / 4);
                rest /= extent as usize;
            }
            let most = cells.entry(cell).or_insert(0.0);
            // NaNs are skipped, as in the encoder.
            if value.abs() > *most {
                *most = value.abs();
            }
        }
        cells.values().any(|&most| most > 0.0 && most < least)
    }
}

/// Converts the values of a stream to numbers.
fn parse_floats(typesize: i32, bytes: &[u8]) -> Vec<f64> {
    let value = |bytes: &[u8]| match typesize {
        4 => f64::from(f32::from_ne_bytes(bytes.try_into().expect("a float"))),
        _ => f64::from_ne_bytes(bytes.try_into().expect("a double")),
    };
    bytes.chunks_exact(typesize as usize).map(value).collect()
}

#[test]
fn streams_and_values_are_those_of_the_reference() {
    let Some((_, library)) = crate::support::both_libraries() else { return };
    let seed = from_environment("ZFP_SEED", 1);
    let (mut coded, mut raw, mut tiny) = (0, 0, 0);
    for number in 0..from_environment("ZFP_CASES", 1500) {
        let mut random = Random::of_item(seed, number);
        let case = Case::random(&mut random);
        let reference =
            case.is_safe_for_reference().then(|| ReferenceCodec::new(library, case.zfp, case.geometry()));
        for _ in 0..4 {
            let kind = *random.pick(&Values::ALL);
            let block = kind.generate(&mut random, case.typesize as usize, case.count());
            let what = format!("case {number}: {case:?} of {kind:?}");
            let ours = case.encode(&block);
            let Some(reference) = &reference else {
                assert_eq!(ours, BlockEncoding::Raw, "{what}");
                continue;
            };
            let chunk = reference.compress(&block);
            let theirs = reference.block_encoding(&chunk);
            if case.has_tiny_cells(&block) {
                // Our library keeps values that the reference loses; the reference decodes our stream to the same
                // values.
                if let BlockEncoding::Coded(stream) = &ours {
                    let theirs = reference.decompress(&reference.wrap_stream(stream)).expect("our stream");
                    assert!(theirs == case.decode(stream), "values of our stream, {what}");
                    tiny += 1;
                }
            } else {
                let same = match &theirs {
                    // The codec is not called.
                    BlockEncoding::Run(_) => true,
                    // The chunk is uncompressed if it would be larger otherwise, which is the case for a block that
                    // saves less than 8 bytes.
                    BlockEncoding::Raw => {
                        matches!(&ours, BlockEncoding::Coded(stream) if stream.len() + 8 > block.len())
                    }
                    BlockEncoding::Coded(_) => false,
                };
                assert!(
                    same || ours == theirs,
                    "streams differ, {what}:\nours   {ours:02x?}\ntheirs {theirs:02x?}"
                );
            }
            let BlockEncoding::Coded(stream) = &theirs else {
                raw += 1;
                continue;
            };
            coded += 1;
            let decoded = reference.decompress(&chunk).expect("its own chunk");
            assert!(case.decode(stream) == decoded, "values differ, {what}");
        }
    }
    println!("{coded} blocks compressed, {raw} raw, {tiny} with tiny cells");
    assert!(coded > raw && raw > 0 && tiny > 0);
}

#[test]
fn single_items_are_those_of_the_whole_block_and_of_the_reference() {
    let Some((_, library)) = crate::support::both_libraries() else { return };
    let seed = from_environment("ZFP_SEED", 1);
    let (mut fast, mut slow) = (0, 0);
    for number in 0..from_environment("ZFP_CASES", 1500) / 5 {
        let mut random = Random::of_item(seed ^ 0x35, number);
        let mut case = Case::random(&mut random);
        // Rates from 30 % of the size: below, the reference rejects single items of small cells (codecs.md 11).
        case.zfp = Zfp { mode: Mode::Rate, meta: 30 + random.below(35) as u8 };
        let block = Values::Noise.generate(&mut random, case.typesize as usize, case.count());
        let BlockEncoding::Coded(stream) = case.encode(&block) else { continue };
        let whole = case.decode(&stream);
        let size = case.typesize as usize;
        let reference = ReferenceCodec::new(library, case.zfp, case.geometry());
        let chunk = reference.wrap_stream(&stream);
        for _ in 0..20 {
            let start = random.below(case.count());
            let len = random.below(40).min(case.count() - start);
            let mut dest = vec![0x5a; len * size];
            let done = case.zfp.decode_items(case.geometry(), &stream, start..start + len, &mut dest);
            if done.unwrap_or_else(|error| panic!("{number}: {case:?}: {error}")) {
                assert!(
                    dest == whole[start * size..][..len * size],
                    "{number}: {case:?}, {len} from {start}"
                );
                fast += 1;
            } else {
                assert!(dest.iter().all(|&byte| byte == 0x5a));
                slow += 1;
            }
            let mut item = [0; 8];
            let rc = reference.getitem(&chunk, start, &mut item[..size]);
            if rc >= 0 {
                assert_eq!(item[..size], whole[start * size..][..size], "{number}: {case:?}, item {start}");
            } else {
                panic!("{number}: {case:?}: item {start} of the reference gives {rc}");
            }
        }
    }
    assert!(fast > slow && slow > 0, "{fast} runs of items from cells, {slow} from whole blocks");
}

#[test]
fn errors_are_at_most_the_tolerance() {
    let mut random = Random::new(from_environment("ZFP_SEED", 1));
    for _ in 0..300 {
        let mut case = Case::random(&mut random);
        let exponent = random.below(8) as i32 - 6;
        case.zfp = Zfp { mode: Mode::Accuracy, meta: exponent as i8 as u8 };
        let kind = *random.pick(&[Values::Smooth, Values::Noise, Values::Integers]);
        let block = kind.generate(&mut random, case.typesize as usize, case.count());
        let BlockEncoding::Coded(stream) = case.encode(&block) else { continue };
        let before = parse_floats(case.typesize, &block);
        let after = parse_floats(case.typesize, &case.decode(&stream));
        // In addition, the rounding error of a float.
        let largest = before.iter().fold(0f64, |most, value| most.max(value.abs()));
        let most = 10f64.powi(exponent) + if case.typesize == 4 { largest * 1e-6 } else { largest * 1e-15 };
        for (before, after) in before.iter().zip(&after) {
            assert!((before - after).abs() <= most, "{case:?}: {before} is decoded as {after}");
        }
    }
}
