//! A stream as sequences: literals, and the repetition that comes after them.
//!
//! Owns the search. What is searched for is what shuffled numbers are full of: long runs and short periods, which are
//! followed to their end at once; behind a repetition the same distance is tried first.

/// The shortest and longest repetition of deflate, and how far back it may reach.
pub const LEAST: usize = 3;
pub const MOST: usize = 258;
pub const REACH: usize = 1 << 15;

/// What the search asks for: a repetition of so many bytes at least.
const WORD: usize = 4;
/// The largest table of places, by the logarithm of its length.
const MOST_SLOTS_LOG2: u32 = 15;
const MOST_SLOTS: usize = 1 << MOST_SLOTS_LOG2;
/// Once places are passed over, one more is for each so many misses more (as a logarithm).
const IMPATIENCE_LOG2: u32 = 4;
/// Passed over at the most.
const LONGEST_STEP: usize = 16;
/// Literals of a sequence at the most, so that blocks can end among them.
const MOST_LITERALS: u32 = 512;

/// How long the codes of literals are, about, holds for so many bytes, of which the first of each of several pieces are
/// looked at.
const WINDOW: usize = 8192;
const PIECES: usize = 4;
const PIECE: usize = 128;
/// Bits of a literal in the codes that every decoder knows, about.
const FIXED_LITERAL_BITS: f32 = 8.4;
/// Where fewer of those that are looked at could be literals, these are rare, and their codes long.
const RARE: u32 = 16;
/// Repetitions of so many bytes are always shorter than literals.
const LONG: usize = 16;
/// Bits of the two codes of a repetition, less the two that the extra bits of a distance have less than itself; and what
/// three bytes may take at the level that looks for them.
const CODES_BITS: f32 = 9.0;
const TRIPLE_BITS: f32 = 6.0;

/// How hard the search is.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Earlier places that are looked at.
    pub depth: usize,
    /// A repetition of this length is good enough.
    pub nice: usize,
    /// Whether one that begins a byte later and is longer is preferred.
    pub lazy: bool,
    /// After so many misses in a row places are passed over.
    pub patience: usize,
    /// Whether repetitions of three bytes count, where literals are long.
    pub triples: bool,
}

/// Literals, and the repetition behind them. At the end of a stream there may be none: `len` is 0 then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    pub literals: u32,
    pub len: u16,
    pub distance: u16,
}

/// Places, modulo 2^16.
type Places<const LEN: usize> = Box<[u16; LEN]>;

/// The memory of the search.
#[derive(Default)]
pub struct Tables {
    /// The last place of each hash.
    last: Option<Places<MOST_SLOTS>>,
    /// The place before it with the same hash, by place modulo [`REACH`].
    previous: Option<Places<REACH>>,
    /// The last place of each hash of three bytes.
    triples: Option<Places<MOST_SLOTS>>,
}

fn places<const LEN: usize>(table: &mut Option<Places<LEN>>) -> &mut [u16; LEN] {
    table.get_or_insert_with(|| {
        let zeros = vec![0; LEN].into_boxed_slice();
        zeros.try_into().expect("a slice of that length")
    })
}

/// A search through one stream.
pub struct Parser<'a> {
    src: &'a [u8],
    last: &'a mut [u16; MOST_SLOTS],
    /// `None` if only one place is looked at.
    previous: Option<&'a mut [u16; REACH]>,
    /// `None` if they do not count.
    triples: Option<&'a mut [u16; MOST_SLOTS]>,
    shift: u32,
    effort: Effort,
    /// Where the next sequence begins.
    at: usize,
    /// Up to here, places are in the tables.
    known: usize,
    /// The distance of the last repetition.
    distance: usize,
    /// Where the three bytes at the place that was remembered last were before.
    triple: u16,
    /// Bits of a literal, about, and up to where that holds.
    literal: (f32, usize),
}

#[derive(Clone, Copy)]
struct Found {
    len: usize,
    distance: usize,
}

impl Tables {
    /// A search through `src`.
    pub fn parser<'a>(&'a mut self, src: &'a [u8], effort: Effort) -> Parser<'a> {
        let slots_log2 = src.len().max(256).ilog2().min(MOST_SLOTS_LOG2);
        let slots = 1 << slots_log2;
        let last = places(&mut self.last);
        // The same streams have to give the same bytes, whatever was there before.
        last[..slots].fill(0);
        let previous = (effort.depth > 1).then(|| places(&mut self.previous));
        let mut triples = effort.triples.then(|| places(&mut self.triples));
        if let Some(triples) = &mut triples {
            triples[..slots].fill(0);
        }
        Parser {
            src,
            last,
            previous,
            triples,
            shift: 32 - slots_log2,
            effort,
            at: 0,
            known: 0,
            distance: 1,
            triple: 0,
            // A block of few bytes is told in the codes that every decoder knows.
            literal: (FIXED_LITERAL_BITS, if src.len() <= super::SHORT { src.len() } else { 0 }),
        }
    }
}

#[inline(always)]
pub fn word(src: &[u8], at: usize) -> Option<u32> {
    src.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

/// How many bytes from `at` on repeat what lies `distance` before.
#[inline(always)]
pub fn matching(src: &[u8], at: usize, distance: usize) -> usize {
    let (here, there) = (&src[at..], &src[at - distance..src.len() - distance]);
    let mut len = 0;
    for (a, b) in here.as_chunks::<8>().0.iter().zip(there.as_chunks::<8>().0) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return len + differ.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    len + here[len..].iter().zip(&there[len..]).take_while(|(a, b)| a == b).count()
}

/// Bits of a literal among these, in the best code for them, about.
fn literal_bits(window: &[u8]) -> f32 {
    // Several tables, so that equal bytes in a row do not wait for each other.
    let mut tables = [[0u16; 256]; 4];
    for piece in window.chunks(WINDOW / PIECES) {
        let piece = &piece[..piece.len().min(PIECE)];
        // What is the same as before will not be literals.
        for (nth, pair) in piece.windows(2).enumerate() {
            tables[nth % 4][usize::from(pair[1])] += u16::from(pair[0] != pair[1]);
        }
    }
    let [a, b, c, d] = &tables;
    let (mut total, mut information, mut values) = (0, 0, 0);
    for i in 0..256 {
        let n = u32::from(a[i] + b[i] + c[i] + d[i]);
        total += n;
        information += n * log2(n);
        values += u32::from(n > 0);
    }
    if total < RARE {
        return FIXED_LITERAL_BITS;
    }
    let total = total as f32;
    // Few samples do not show all values (Miller and Madow 1955).
    total.log2() - information as f32 / (256.0 * total)
        + values as f32 / (2.0 * std::f32::consts::LN_2 * total)
}

/// 256 times the logarithm of `n`, about; 0 for 0.
#[inline(always)]
fn log2(n: u32) -> u32 {
    let whole = (n | 1).ilog2();
    (whole << 8) + ((n << 8 >> whole) & 0xff)
}

/// The parts of a repetition, each of which deflate can tell.
pub fn parts(len: usize) -> impl Iterator<Item = u16> {
    let mut left = len;
    std::iter::from_fn(move || {
        // No rest that is too short.
        let part = match left.checked_sub(MOST) {
            Some(1..LEAST) => left - LEAST,
            _ => left.min(MOST),
        };
        left -= part;
        (part > 0).then_some(part as u16)
    })
}

impl Parser<'_> {
    #[inline(always)]
    fn slot(&self, word: u32) -> usize {
        (word.wrapping_mul(0x9e37_79b1) >> self.shift) as usize % MOST_SLOTS
    }

    /// Puts the places before `end` into the tables.
    #[inline(always)]
    fn know(&mut self, end: usize) {
        while self.known < end {
            let Some(word) = word(self.src, self.known) else { break };
            self.remember(self.known, word);
            self.known += 1;
        }
        self.known = self.known.max(end);
    }

    /// Puts a place into the tables; the one that was there.
    #[inline(always)]
    fn remember(&mut self, at: usize, word: u32) -> u16 {
        let slot = self.slot(word);
        let before = self.last[slot];
        if let Some(previous) = &mut self.previous {
            previous[at % REACH] = before;
        }
        self.last[slot] = at as u16;
        let slot = self.slot(word << 8);
        if let Some(triples) = &mut self.triples {
            self.triple = std::mem::replace(&mut triples[slot], at as u16);
        }
        before
    }

    /// The repetition of three bytes at `at`, which was remembered last.
    fn triple(&mut self, at: usize, word_here: u32) -> Option<Found> {
        self.triples.as_ref()?;
        let distance = usize::from((at as u16).wrapping_sub(self.triple));
        if distance.wrapping_sub(1) >= at.min(REACH) {
            return None;
        }
        let word_there = word(self.src, at - distance)?;
        ((word_here ^ word_there) << 8 == 0).then_some(Found { len: LEAST, distance })
    }

    /// Whether a repetition at `at` is shorter than literals.
    #[inline(always)]
    fn pays(&mut self, at: usize, hit: &Found) -> bool {
        if hit.len >= LONG || hit.distance == self.distance {
            return true;
        }
        if at >= self.literal.1 {
            let window = &self.src[at..self.src.len().min(at + WINDOW)];
            self.literal = (literal_bits(window), at + window.len());
        }
        // A distance of n bits has n - 2 extra ones.
        let bits = if hit.len == LEAST { TRIPLE_BITS } else { CODES_BITS };
        hit.len as f32 * self.literal.0 > bits + hit.distance.ilog2() as f32
    }

    /// The longest repetition at `at`, which is longer than `least`.
    #[inline(always)]
    fn search(&mut self, at: usize, word_here: u32, least: usize) -> Option<Found> {
        let mut place = self.remember(at, word_here);
        let mut best: Option<Found> = None;
        let mut longest = least.max(WORD - 1);
        let farthest = at.min(REACH);
        let mut before = 0;
        for _ in 0..self.effort.depth {
            let distance = usize::from((at as u16).wrapping_sub(place));
            // Places go back in time; what does not has been overwritten.
            if distance <= before || distance > farthest {
                break;
            }
            before = distance;
            // Where the best so far ends, a better one has to agree, too.
            let tail = longest + 1 - WORD;
            if word(self.src, at - distance) == Some(word_here)
                && word(self.src, at - distance + tail) == word(self.src, at + tail)
            {
                let len = WORD + matching(self.src, at + WORD, distance);
                if len > longest {
                    longest = len;
                    best = Some(Found { len, distance });
                    if len >= self.effort.nice {
                        break;
                    }
                }
            }
            let Some(previous) = &self.previous else { break };
            place = previous[(at - distance) % REACH];
        }
        best
    }

    /// The repetition at `at` with the distance of the last one.
    #[inline(always)]
    fn again(&self, at: usize, word_here: u32) -> Option<Found> {
        let distance = self.distance;
        if distance > at || word(self.src, at - distance) != Some(word_here) {
            return None;
        }
        Some(Found { len: WORD + matching(self.src, at + WORD, distance), distance })
    }

    /// Appends sequences until there are `most` of them or the stream is over; where they end.
    pub fn sequences(&mut self, most: usize, found: &mut Vec<Sequence>) -> usize {
        found.clear();
        let start = self.at;
        let mut at = start;
        let mut misses = 0usize;
        while found.len() < most {
            let Some(here) = word(self.src, at) else {
                let literals = self.literals(self.src.len(), found);
                found.push(Sequence { literals, len: 0, distance: 0 });
                self.at = self.src.len();
                break;
            };
            let mut match_at = at;
            let mut hit = self.again(at, here);
            if hit.is_none_or(|hit| hit.len < self.effort.nice) {
                // Left out is only the search: what comes later may repeat what was passed over.
                self.know(at);
                self.known = self.known.max(at + 1);
                let least = hit.map_or(0, |hit| hit.len - 1);
                hit = self.search(at, here, least).or(hit);
                // Where one byte differs, things go on as before.
                if let Some(found) = hit
                    && let Some(next) = word(self.src, at + 1)
                    && let Some(after) = self.again(at + 1, next)
                    && after.len > found.len
                {
                    (hit, match_at) = (Some(after), at + 1);
                }
            }
            let hit = hit.or_else(|| self.triple(at, here)).filter(|hit| self.pays(match_at, hit));
            let Some(mut hit) = hit else {
                at +=
                    (1 + (misses.saturating_sub(self.effort.patience) >> IMPATIENCE_LOG2)).min(LONGEST_STEP);
                misses += 1;
                continue;
            };
            if self.effort.lazy && hit.len < self.effort.nice {
                while let Some(next) = word(self.src, match_at + 1) {
                    self.known = self.known.max(match_at + 2);
                    let Some(better) = self.search(match_at + 1, next, hit.len) else { break };
                    hit = better;
                    match_at += 1;
                    if hit.len >= self.effort.nice {
                        break;
                    }
                }
            }
            // Bytes that were passed over, or taken for literals, may belong to it.
            while match_at > self.at
                && match_at > hit.distance
                && self.src[match_at - 1] == self.src[match_at - 1 - hit.distance]
            {
                match_at -= 1;
                hit.len += 1;
            }
            at = self.take(match_at, hit, found);
            misses = 0;
        }
        self.at
    }

    /// If there are more than [`MOST_LITERALS`] up to `end`, appends sequences of literals alone for them; how many are
    /// left.
    #[inline(always)]
    fn literals(&self, end: usize, found: &mut Vec<Sequence>) -> u32 {
        let mut literals = (end - self.at) as u32;
        if literals <= MOST_LITERALS {
            return literals;
        }
        while literals > 0 {
            let part = literals.min(MOST_LITERALS);
            found.push(Sequence { literals: part, len: 0, distance: 0 });
            literals -= part;
        }
        0
    }

    /// Appends the sequences of a repetition, and remembers places in it; where it ends.
    #[inline(always)]
    fn take(&mut self, at: usize, hit: Found, found: &mut Vec<Sequence>) -> usize {
        let Found { len, distance } = hit;
        let mut literals = self.literals(at, found);
        for part in parts(len) {
            found.push(Sequence { literals, len: part, distance: distance as u16 });
            literals = 0;
        }
        let end = at + len;
        self.at = end;
        self.distance = distance;
        // Long ones repeat what the tables have already.
        if len <= 32 {
            self.know(end);
        } else {
            self.known = self.known.max(end - 2);
            self.know(end);
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unparse(sequences: &[Sequence], src: &[u8]) -> Vec<u8> {
        let mut out: Vec<u8> = vec![];
        for s in sequences {
            out.extend_from_slice(&src[out.len()..out.len() + s.literals as usize]);
            let distance = usize::from(s.distance);
            assert!(s.len == 0 || (LEAST..=MOST).contains(&usize::from(s.len)));
            assert!(s.len == 0 || (1..=REACH.min(out.len())).contains(&distance));
            for _ in 0..s.len {
                out.push(out[out.len() - distance]);
            }
        }
        out
    }

    #[test]
    fn sequences_say_what_the_stream_says() {
        let mut x = 1u64;
        let mut random = move |bound: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % bound
        };
        let mut tables = Tables::default();
        for round in 0..600 {
            let mut src: Vec<u8> = vec![];
            let len = [round, random(3000), random(100_000)][round % 3];
            while src.len() < len {
                match random(3) {
                    0 => src.extend((0..random(300)).map(|_| random(256) as u8)),
                    1 if !src.is_empty() => {
                        let reach = [3, 300, 40_000][random(3)];
                        let distance = 1 + random(src.len().min(reach));
                        for _ in 0..random(1000) {
                            src.push(src[src.len() - distance]);
                        }
                    }
                    _ => src.extend((0..random(300)).map(|_| random(4) as u8)),
                }
            }
            for effort in [
                Effort { depth: 1, nice: 16, lazy: false, patience: 64, triples: false },
                Effort { depth: 4, nice: 32, lazy: true, patience: 512, triples: false },
                Effort { depth: 32, nice: 258, lazy: true, patience: 512, triples: true },
            ] {
                let mut parser = tables.parser(&src, effort);
                let (mut all, mut some) = (vec![], vec![]);
                while all.is_empty() || parser.at < src.len() {
                    let end = parser.sequences([1, 50, 10_000][round % 3], &mut some);
                    all.extend_from_slice(&some);
                    let told: usize = all.iter().map(|s| s.literals as usize + usize::from(s.len)).sum();
                    assert_eq!(told, end);
                }
                assert!(unparse(&all, &src) == src, "round {round}");
            }
        }
    }

    fn repetitions(src: &[u8], triples: bool, is_counted: impl Fn(usize) -> bool) -> usize {
        let mut tables = Tables::default();
        let effort = Effort { depth: 32, nice: 258, lazy: true, patience: usize::MAX, triples };
        let mut found = vec![];
        tables.parser(src, effort).sequences(usize::MAX, &mut found);
        found.iter().filter(|s| s.len > 0 && is_counted(usize::from(s.len))).count()
    }

    #[test]
    fn repetitions_have_to_pay() {
        let mut x = 1u32;
        let mut noise = |values: u32| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((x >> 16) % values) as u8
        };
        // Three bytes in noise: a literal of theirs is as long as it gets.
        let mut src: Vec<u8> = (0..20_000).map(|_| noise(256)).collect();
        for at in (1000..19_000).step_by(100) {
            src.copy_within(at - 533..at - 530, at);
            src[at + 3] = !src[at - 530];
            src[at - 1] = !src[at - 534];
        }
        assert!(repetitions(&src, true, |len| len == LEAST) > 100);
        assert_eq!(repetitions(&src, false, |len| len == LEAST), 0);
        // Any four digits came before, and to say where takes longer than to say them again.
        let digits: Vec<u8> = (0..60_000).map(|_| noise(10)).collect();
        assert!(repetitions(&digits, true, |_| true) < 1500, "of thirteen thousand");
    }
}
