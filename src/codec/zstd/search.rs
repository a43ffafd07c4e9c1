//! How the library is to search a stream: the reference's level, or what finds about as much in this kind of stream in
//! less time.
//!
//! Owns the choice, and the limits behind it, which are measured: of numbers of all kinds, shuffled, bit-shuffled and as
//! they are, and of text, no chunk becomes longer by one percent. Never compresses anything.

#![forbid(unsafe_code)]

use zstd_safe::{CompressionLevel, Strategy};

use crate::codec::Arrangement;
use crate::codec::probe::{self, Care};

/// Shorter streams are looked at as wholes, in bytes.
const SHORT: usize = probe::SHORT;
/// In parts of items up to this, in bytes, a few tries find all there is.
const TINY: usize = 2 << 10;
/// From this level on the library looks for what repeats all over the stream, and finds it far away.
const FINDS_FAR: i32 = 7;
/// The level at which the library takes a stream without much ado for what it is.
const NOISE_LEVEL: CompressionLevel = -8;
/// The spread of bytes that no encoder of frequencies gains anything from.
const NOISE_VALUES: f32 = 230.0;
/// So much repetition, in percent, is none.
const FEW: usize = 3;
/// Longer streams are searched with other parameters at every level, in bytes.
const LONG: usize = 256 << 10;
/// The longest stream of which the library's last levels see the same, in bytes.
const LAST_LEVELS_SAME: usize = 8 << 20;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    pub level: CompressionLevel,
    /// In place of those of the level.
    pub strategy: Option<Strategy>,
    pub search_log: Option<u32>,
    pub min_match: Option<u32>,
    /// Whether blocks end where the data change, also at levels that do not care.
    pub splits: bool,
}

impl Search {
    const fn plain(level: CompressionLevel) -> Self {
        Search { level, strategy: None, search_log: None, min_match: None, splits: false }
    }

    /// Whether the level says it all.
    pub fn is_plain(&self) -> bool {
        *self == Search::plain(self.level)
    }
}

/// Where planes change slowly, what comes next is a good match as often as what comes after.
const SMOOTH: Search = Search { strategy: Some(Strategy::ZSTD_lazy), ..Search::plain(9) };
/// A few tries for each place instead of many.
const FEW_TRIES: Search = Search { search_log: Some(3), ..Search::plain(9) };
const MORE_TRIES: Search = Search { search_log: Some(4), ..Search::plain(11) };
/// Blocks of their own for planes of different kinds rather than a search through trees.
const SPLIT: Search = Search { splits: true, ..Search::plain(10) };
const SPLIT_BETTER: Search = Search { level: 12, ..SPLIT };

/// The library's level for a `clevel` of 0..=9.
fn level(clevel: i32) -> CompressionLevel {
    if clevel < 9 { 2 * clevel - 1 } else { zstd_safe::max_c_level() }
}

/// Whether `src` is so short, and its bytes so much like noise, that the library could only make it longer.
pub(super) fn is_hopeless(src: &[u8], clevel: i32) -> bool {
    clevel > 0 && src.len() < SHORT && probe::is_short_noise(src)
}

/// How to search `src`, whose bytes are arranged like that, at a `clevel` of 0..=9.
pub(super) fn choose(src: &[u8], clevel: i32, arrangement: Arrangement) -> Search {
    if src.len() < SHORT {
        let is_tiny = src.len() <= TINY && arrangement == Arrangement::Plane;
        return Search::plain(if clevel == 5 && is_tiny { 6 } else { level(clevel) });
    }
    let sees_the_same = src.len() > LONG && src.len() <= LAST_LEVELS_SAME;
    let plain = Search::plain(if clevel == 9 && sees_the_same { 19 } else { level(clevel) });
    if clevel < 1 {
        return plain;
    }
    if is_noise(src, clevel) {
        return Search::plain(NOISE_LEVEL);
    }
    match (arrangement, clevel) {
        (Arrangement::Plane, 3..=5) => plane(src, clevel).unwrap_or(plain),
        (Arrangement::Planes | Arrangement::Bits, 3) => {
            let look = probe::look(src);
            if is_literals(look) { Search::plain(4) } else { plain }
        }
        (Arrangement::Planes | Arrangement::Bits, 5..=6) => match probe::spread(src) {
            Some(spread) if spread.differences <= 0.4 * spread.values => plain,
            _ if clevel == 5 => FEW_TRIES,
            _ => MORE_TRIES,
        },
        (Arrangement::Planes | Arrangement::Bits, 7..=8) if src.len() > LONG => {
            let look = probe::look(src);
            let is_text = look.repetition >= 30 && look.runs < 5;
            if is_text || look.runs > 76 || probe::far_repetition(src) > 5 {
                return plain;
            }
            if has_only_frequencies(src, look) {
                return Search::plain(3);
            }
            // Where there are any matches, short ones count.
            let min_match = if is_literals(look) { None } else { Some(4) };
            Search { min_match, ..if clevel == 7 { SPLIT } else { SPLIT_BETTER } }
        }
        _ => plain,
    }
}

/// Whether there is nothing in `src` for the library to find at that level.
fn is_noise(src: &[u8], clevel: i32) -> bool {
    let care = match clevel {
        // A look costs as much as the search.
        ..=2 => Care::Glance,
        3..FINDS_FAR => Care::Look,
        FINDS_FAR.. => Care::Far,
    };
    probe::is_noise(src, NOISE_VALUES, care)
}

/// How to search bytes of one significance; `None` for as the level says.
fn plane(src: &[u8], clevel: i32) -> Option<Search> {
    let look = probe::look(src);
    if has_only_frequencies(src, look) {
        return Some(Search::plain(3));
    }
    let is_smooth = is_smooth(probe::spread(src)?);
    match clevel {
        _ if look.repetition <= FEW => None,
        3 if !is_smooth && is_literals(look) => Some(Search::plain(4)),
        5 if is_smooth && look.runs < 50 => Some(SMOOTH),
        5 if !is_smooth && look.runs >= 15 => Some(Search::plain(7)),
        _ => None,
    }
}

/// Whether neighbours are closer than the spread of the bytes accounts for.
fn is_smooth(spread: probe::Spread) -> bool {
    spread.differences < 0.8 * spread.values
}

/// Whether there is nothing in `src` to make use of but how often each byte occurs.
fn has_only_frequencies(src: &[u8], look: probe::Look) -> bool {
    let tells = |spread: probe::Spread| !is_smooth(spread) && spread.is_even && spread.values < NOISE_VALUES;
    look.repetition <= FEW && probe::spread(src).is_some_and(tells)
}

/// Whether the rest of a stream, without its runs, hardly repeats itself.
fn is_literals(look: probe::Look) -> bool {
    look.runs < 50 && look.repetition < look.runs + 13
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zstd;

    const LEN: usize = 1 << 17;

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        (0..len).map(|_| random.below(256) as u8).collect()
    }

    /// Bytes that only their frequencies tell something about.
    fn digits(len: usize) -> Vec<u8> {
        let mut random = Random(2);
        (0..len).map(|_| 7 * random.below(25) as u8).collect()
    }

    /// The middle byte of slowly changing numbers.
    fn smooth(len: usize) -> Vec<u8> {
        let (mut random, mut value) = (Random(3), 40_000u32);
        (0..len)
            .map(|_| {
                value = value.wrapping_add(random.below(121) as u32).wrapping_sub(60);
                (value >> 8) as u8
            })
            .collect()
    }

    fn text(len: usize) -> Vec<u8> {
        let mut random = Random(4);
        let words: Vec<Vec<u8>> = (0..400)
            .map(|_| (0..3 + random.below(8)).map(|_| b'a' + random.below(26) as u8).chain([b' ']).collect())
            .collect();
        let mut all = Vec::new();
        while all.len() < len {
            let pick = random.below(20) * random.below(20);
            all.extend(&words[pick as usize]);
        }
        all.truncate(len);
        all
    }

    /// Planes of all kinds, one behind the other.
    fn planes(len: usize) -> Vec<u8> {
        [noise(len / 4, 5), digits(len / 4), smooth(len / 4), vec![0; len / 4]].concat()
    }

    #[test]
    fn levels_are_the_reference_s() {
        assert_eq!([0, 1, 2, 5, 8, 9].map(level), [-1, 1, 3, 9, 15, 22]);
        let long = vec![0; LAST_LEVELS_SAME + 1];
        let chosen = |src: &[u8]| choose(src, 9, Arrangement::Items);
        let lens = [LONG, LONG + 1, LAST_LEVELS_SAME, LAST_LEVELS_SAME + 1];
        assert_eq!(lens.map(|len| chosen(&long[..len]).level), [22, 19, 19, 22]);
    }

    #[test]
    fn noise_is_not_searched_unless_it_comes_again() {
        let once = noise(LEN, 1);
        let twice = [&once[..], &once[..]].concat();
        for clevel in 1..=9 {
            for arrangement in [Arrangement::Items, Arrangement::Plane, Arrangement::Planes] {
                assert_eq!(choose(&once, clevel, arrangement), Search::plain(NOISE_LEVEL), "{clevel}");
            }
        }
        for clevel in 7..=9 {
            assert_ne!(choose(&twice, clevel, Arrangement::Plane), Search::plain(NOISE_LEVEL), "{clevel}");
        }
        // Values of few bytes that come again soon, and a counter, are no noise either.
        let again: Vec<u8> = noise(1000, 6).iter().copied().cycle().take(LEN).collect();
        let counter: Vec<u8> = noise(LEN, 7)
            .iter()
            .scan(0u8, |sum, byte| {
                *sum = sum.wrapping_add(byte % 16);
                Some(*sum)
            })
            .collect();
        for clevel in 3..=9 {
            for src in [&again, &counter] {
                assert_ne!(choose(src, clevel, Arrangement::Plane).level, NOISE_LEVEL, "{clevel}");
            }
        }
        assert_ne!(choose(&again, 1, Arrangement::Plane).level, NOISE_LEVEL);
    }

    #[test]
    fn every_kind_has_its_search() {
        let plane = |src: &[u8], clevel| choose(src, clevel, Arrangement::Plane);
        assert_eq!([3, 4, 5].map(|clevel| plane(&digits(LEN), clevel)), [Search::plain(3); 3]);
        assert_eq!(plane(&smooth(LEN), 5), SMOOTH);
        let few = [noise(2 * LEN, 5), digits(LEN), vec![0; LEN]].concat();
        let planes = |clevel| choose(&few, clevel, Arrangement::Planes);
        assert_eq!([planes(5), planes(6)], [FEW_TRIES, MORE_TRIES]);
        assert_eq!(
            [planes(7), planes(8)].map(|search| (search.level, search.splits)),
            [(10, true), (12, true)]
        );
        // As they are, nothing is known about them.
        for clevel in 1..=8 {
            for src in [digits(LEN), smooth(LEN), text(LEN)] {
                let search = choose(&src, clevel, Arrangement::Items);
                assert_eq!(search, Search::plain(2 * clevel - 1), "{clevel}");
            }
        }
    }

    #[test]
    fn streams_are_right_and_about_as_short_as_at_the_level() {
        let copies = [noise(LEN, 8), noise(LEN, 8), vec![7; LEN]].concat();
        let kinds = [
            noise(LEN, 9),
            digits(LEN),
            smooth(LEN),
            text(LEN),
            planes(LEN),
            planes(4 * LEN),
            smooth(4 * LEN),
            copies,
        ];
        let short = [300, 600, 2000, 5000].map(|len| [noise(len, 10), digits(len), smooth(len), text(len)]);
        let (mut state, mut plain) = (zstd::State::default(), zstd_safe::CCtx::create());
        let (mut stream, mut decoded) = (vec![0; 5 * LEN], vec![0; 5 * LEN]);
        for (nth, src) in kinds.iter().chain(short.iter().flatten()).enumerate() {
            for clevel in (1..=9).rev() {
                let usual = plain.compress(&mut stream[..], src, level(clevel)).unwrap().min(src.len());
                for arrangement in [Arrangement::Items, Arrangement::Plane, Arrangement::Planes] {
                    let room = if src.len() < SHORT { src.len() } else { stream.len() };
                    let len =
                        zstd::compress(&mut state, src, &mut stream[..room], clevel, arrangement).unwrap();
                    if len == 0 {
                        assert!(
                            usual >= src.len() && src.len() < SHORT,
                            "kind {nth}, {clevel}, {arrangement:?}"
                        );
                        continue;
                    }
                    let found = zstd::decompress(&mut state, &stream[..len], &mut decoded).unwrap();
                    assert!(decoded[..found] == src[..], "kind {nth}, {clevel}, {arrangement:?}");
                    let limit = usual + usual / 60 + 20;
                    assert!(len <= limit, "kind {nth}, {clevel}, {arrangement:?}: {len} of {usual}");
                    // No room for it.
                    let short = zstd::compress(&mut state, src, &mut stream[..len - 1], clevel, arrangement);
                    assert_eq!(short.unwrap(), 0);
                }
            }
        }
    }
}
