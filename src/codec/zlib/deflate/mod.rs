//! The deflate encoder (RFC 1951).
//!
//! Data flow: stream -> at level 1 of zlib-ng [`quick`], which writes in one pass; at other levels the matches that
//! [`recent`] or [`search`] finds -> those that [`parse`] and [`period`] choose -> blocks ([`block_writer`]).

mod bit_writer;
mod block;
mod block_writer;
mod chain_walk;
mod codes;
mod dynamic_codes;
mod hash_chain;
mod huffman;
mod long_words;
mod matches;
mod parse;
mod period;
mod quick;
mod recent;
mod runs;
mod search;

use crate::codec::reference::HAS_BLOSC1_ENCODERS;
use crate::error::Result;
use crate::fallible;
use crate::tuning::tunable;

use parse::{ChainParser, FastParser, Parser, Strategy};
use recent::RecentSearch;
use search::DeflateSearch;

pub(super) use matches::MAX_DISTANCE;
pub(in crate::codec) use parse::LevelSet;
pub(super) use quick::{Level1Positions, compress as compress_level_1};

tunable! {
    /// Whether runs are held separately from words (docs/tuning.md).
    const HAS_RUNS: bool = true;
    /// The number of candidates of a level from which on runs are held separately from words (docs/tuning.md).
    const MIN_CANDIDATES_FOR_RUNS: u32 = 128;
    /// Whether the first level searches rows of positions instead of hash chains (docs/tuning.md).
    const HAS_POSITION_ROWS: bool = true;
}

/// The working memory of a thread.
pub(super) struct DeflateWorkspace {
    tables: search::SearchTables,
    recent: recent::RecentTables,
    symbols: block_writer::SymbolBuffer,
}

impl DeflateWorkspace {
    /// Allocates working memory: 0.8 MiB.
    pub(super) fn new() -> Result<Box<DeflateWorkspace>> {
        // SAFETY: `DeflateWorkspace` consists of integers and booleans, for which zeros are valid.
        unsafe { fallible::boxed_zeros() }
    }
}

/// Compresses `src` as raw deflate at `clevel`, 1 to 9 of zlib or 2 to 9 of zlib-ng.
/// Returns the length in bytes, or `None` if it does not fit.
pub(super) fn compress(
    workspace: &mut DeflateWorkspace,
    src: &[u8],
    dest: &mut [u8],
    levels: LevelSet,
    clevel: i32,
) -> Option<usize> {
    let level = parse::Level::of(levels, clevel, HAS_POSITION_ROWS.get());
    let DeflateWorkspace { tables, recent, symbols } = workspace;
    let out = block_writer::BlockWriter::new(symbols, src, dest);
    match level.strategy {
        Strategy::Fast(strategy) if HAS_BLOSC1_ENCODERS && level.has_3_byte_matches => {
            let search = RecentSearch::<true>::new(recent, src, strategy.nice_len);
            encode(FastParser { strategy, search }, out)
        }
        Strategy::Fast(strategy) => {
            let search = RecentSearch::<false>::new(recent, src, strategy.nice_len);
            encode(FastParser { strategy, search }, out)
        }
        Strategy::Greedy(strategy, effort) if HAS_BLOSC1_ENCODERS && level.has_3_byte_matches => {
            let search = DeflateSearch::<false, true>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Greedy(strategy, effort)
            if effort.candidates < MIN_CANDIDATES_FOR_RUNS.get() || !HAS_RUNS.get() =>
        {
            let search = DeflateSearch::<false, false>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Greedy(strategy, effort) => {
            let search = DeflateSearch::<true, false>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Lazy(strategy, effort) if level.has_3_byte_matches && !HAS_RUNS.get() => {
            let search = DeflateSearch::<false, true>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Lazy(strategy, effort) if !HAS_RUNS.get() => {
            let search = DeflateSearch::<false, false>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Lazy(strategy, effort) if level.has_3_byte_matches => {
            let search = DeflateSearch::<true, true>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
        Strategy::Lazy(strategy, effort) => {
            let search = DeflateSearch::<true, false>::new(tables, src, effort);
            encode(ChainParser { strategy, search }, out)
        }
    }
}

/// Compresses with the instruction set extensions that the processor has.
fn encode(parser: impl Parser, out: block_writer::BlockWriter<'_, '_>) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
        // SAFETY: the features have just been detected.
        return unsafe { encode_bmi(parser, out) };
    }
    encode_portable(parser, out)
}

/// The same with BMI1 and BMI2, where a shift or a bit count is one instruction: level 2 is 5 % faster.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2")]
fn encode_bmi(parser: impl Parser, out: block_writer::BlockWriter<'_, '_>) -> Option<usize> {
    encode_portable(parser, out)
}

#[inline(always)]
fn encode_portable(mut parser: impl Parser, mut out: block_writer::BlockWriter<'_, '_>) -> Option<usize> {
    parse::parse(&mut parser, &mut out)?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zlib::inflate::Inflater;
    use crate::random::Random;

    /// Returns a stream of `len` bytes, or more, of noise, runs, few values, periods, and repetitions at any distance.
    fn random_stream(len: usize, random: &mut Random) -> Vec<u8> {
        let mut src: Vec<u8> = vec![];
        while src.len() < len {
            match random.below(6) {
                0 => src.extend((0..random.below(500)).map(|_| random.below(256) as u8)),
                1 => src.extend(std::iter::repeat_n(random.below(256) as u8, random.below(5000))),
                2 if src.len() > 9 => {
                    let distance = 1 + random.below(src.len().min(50_000));
                    (0..random.below(700)).for_each(|_| src.push(src[src.len() - distance]));
                }
                3 => {
                    // Short runs of one byte between other bytes.
                    let (values, byte) = (1 + random.below(256), random.below(256) as u8);
                    for _ in 0..random.below(300) {
                        src.extend(std::iter::repeat_n(byte, random.below(12)));
                        src.push(random.below(values) as u8);
                    }
                }
                4 if src.len() > 9 => {
                    // A period, repeated many times.
                    let most = [30, 3000, 40_000][random.below(3)];
                    let distance = 1 + random.below(src.len().min(most));
                    (0..random.below(if cfg!(miri) { 1000 } else { 60_000 }))
                        .for_each(|_| src.push(src[src.len() - distance]));
                }
                _ => src.extend((0..random.below(500)).map(|_| random.below(5) as u8)),
            }
        }
        src
    }

    struct Encoders {
        positions: Level1Positions,
        state: Box<DeflateWorkspace>,
    }

    impl Encoders {
        fn compress(
            &mut self,
            src: &[u8],
            dest: &mut [u8],
            (levels, clevel): (LevelSet, i32),
        ) -> Option<usize> {
            match (levels, clevel) {
                (LevelSet::ZlibNg, 1) => compress_level_1(&mut self.positions, src, dest).unwrap(),
                _ => compress(&mut self.state, src, dest, levels, clevel),
            }
        }
    }

    #[test]
    fn streams_decode_to_the_input_with_flate2_and_the_own_inflater() {
        let mut random = Random(1);
        let mut encoders =
            Encoders { positions: Level1Positions::default(), state: DeflateWorkspace::new().unwrap() };
        let mut inflater = Inflater::default();
        for round in 0..if cfg!(miri) { 8 } else { 800 } {
            let clevel = 1 + random.below(9) as i32;
            let levels = [LevelSet::ZlibNg, LevelSet::Zlib][random.below(2)];
            let len = [round, random.below(5000), random.below(5000), random.below(200_000)][round % 4];
            // Miri is a thousand times slower.
            let len = if cfg!(miri) { len % 1000 } else { len };
            let src = random_stream(len, &mut random);
            let mut dest = vec![0xa5; src.len() + src.len() / 1000 + 1000];
            let written = encoders.compress(&src, &mut dest, (levels, clevel)).expect("there is room");
            assert!(dest[written + 8..].iter().all(|&byte| byte == 0xa5));
            let mut back = vec![0; src.len()];
            flate2::Decompress::new(false)
                .decompress(&dest[..written], &mut back, flate2::FlushDecompress::Finish)
                .expect("a good stream");
            assert!(back == src, "round {round}");
            back.fill(0);
            assert_eq!(inflater.decode_raw(&dest[..written], &mut back), Some((written, src.len())));
            assert!(back == src, "round {round}");
            let room = written.saturating_sub(1 + random.below(3));
            let mut tight = vec![0; written];
            assert_eq!(encoders.compress(&src, &mut tight[..room], (levels, clevel)), None);
            assert_eq!(encoders.compress(&src, &mut tight, (levels, clevel)), Some(written));
            assert!(tight == dest[..written], "the same stream twice");
            if clevel > 1 && round % 4 > 1 {
                // The content that earlier streams left in the tables has no effect.
                let mut fresh = DeflateWorkspace::new().unwrap();
                let fresh = compress(&mut fresh, &src, &mut tight, levels, clevel);
                assert!(fresh == Some(written) && tight == dest[..written], "round {round}");
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes hours")]
    fn streams_are_as_long_as_those_of_zlib_rs() {
        let mut random = Random(1);
        let mut workspace = DeflateWorkspace::new().unwrap();
        for clevel in 2..=9 {
            let mut lens = (0, 0);
            for _ in 0..40 {
                let len = random.below(150_000);
                let src = random_stream(len, &mut random);
                let mut dest = vec![0; src.len() + 1000];
                lens.0 += compress(&mut workspace, &src, &mut dest, LevelSet::ZlibNg, clevel)
                    .expect("there is room");
                let mut library = flate2::Compress::new(flate2::Compression::new(clevel as u32), false);
                library.compress(&src, &mut dest, flate2::FlushCompress::Finish).unwrap();
                lens.1 += library.total_out() as usize;
            }
            assert!(lens.0 <= lens.1 + lens.1 / 500, "level {clevel}: {lens:?}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn periodic_input_is_coded_with_the_distance_of_its_period() {
        let mut random = Random(1);
        let mut inflater = Inflater::default();
        for clevel in 3..=9 {
            for period in [7_usize, 272] {
                let pattern: Vec<u8> = (0..period).map(|_| random.below(256) as u8).collect();
                // The period is interrupted three times.
                let mut src: Vec<u8> = pattern.iter().copied().cycle().take(200_000).collect();
                (1..4).for_each(|nth| src[nth * 50_000] ^= 1);
                let mut dest = vec![0; src.len()];
                let mut workspace = DeflateWorkspace::new().unwrap();
                let written = compress(&mut workspace, &src, &mut dest, LevelSet::ZlibNg, clevel)
                    .expect("there is room");
                // For each match of 258 bytes: one bit for its length, one for its distance, since all matches have the
                // same, and the extra bits of the distance.
                let extra = (period.ilog2() as usize).saturating_sub(1);
                let bits = (src.len() / 258 + 20) * (2 + extra);
                assert!(written <= period + bits / 8 + 200, "level {clevel}, period {period}: {written}");
                let mut back = vec![0; src.len()];
                assert_eq!(inflater.decode_raw(&dest[..written], &mut back), Some((written, src.len())));
                assert!(back == src);
            }
        }
    }
}
