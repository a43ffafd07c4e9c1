//! Runs of literals, decoded at three positions of the stream in parallel.
//!
//! Owns the guess where codes begin further on, and the proof that it was right. Writes only bytes that are proven to
//! be right; symbols that lanes cannot decode are left to the loops of single symbols.
//!
//! The decoding of literals is bound by latency: the length of a code must be known before the next can be looked up. A
//! second decoder that begins somewhere further on, most likely in the middle of a code, decodes wrong symbols at
//! first, but Huffman codes are self-synchronizing: after ten or twenty symbols it is at the boundary of a code, and
//! remains at boundaries. So two lanes run ahead of the first, and record the positions at which their rounds began.
//! Once the first lane reaches one of these positions, the symbols that the other lane has decoded from there on are
//! those that the first would have decoded.

use crate::codec::match_copy::MatchCopy;
use crate::tuning::tunable;

use super::bit_reader::BitReader;
use super::output::{COPY_STEP, InflateOutput};
use super::symbol::{BlockTables, Symbol};

/// The number of lanes.
const LANES: usize = 3;
tunable! {
    /// The greatest and the least distance, in bytes of the stream, of a lane from the one before.
    const MAX_LANE_STEP: usize = 768;
    const MIN_LANE_STEP: usize = 128;
    /// The greatest distance, in bits, over which single symbols are decoded to reach the start of a round of the next
    /// lane.
    const MAX_SYNC_BITS: usize = 1024;
    /// The least number of literals for each match with which lanes are worthwhile.
    const MIN_LITERALS_PER_MATCH: usize = 8;
}
/// The greatest number of rounds of a lane, the number of literals of up to 11 bits in one word, and the greatest
/// number of literals of a round: one more may come from a second table.
const MAX_ROUNDS: usize = 384;
const WORD_LITERALS: usize = 5;
const ROUND_LITERALS: usize = WORD_LITERALS + 1;
/// The number of bytes that a round may read behind the one where it begins: 55 bits of literals, and the word in which
/// the last of them ends.
const READ_AHEAD: usize = 16;

/// The symbols that the lanes have decoded.
#[derive(Default)]
pub(super) struct Lanes([Lane; LANES]);

struct Lane {
    literals: [u8; MAX_ROUNDS * ROUND_LITERALS + COPY_STEP],
    matches: [LaneMatch; MAX_ROUNDS],
    /// The state before each round, and after the last one.
    rounds: [LanePosition; MAX_ROUNDS + 1],
    /// The first valid round: an earlier one did not begin at the boundary of a code.
    first_valid_round: usize,
    /// The number of matches.
    nmatches: usize,
}

impl Default for Lane {
    fn default() -> Self {
        Lane {
            literals: [0; MAX_ROUNDS * ROUND_LITERALS + COPY_STEP],
            matches: [LaneMatch::default(); MAX_ROUNDS],
            rounds: [LanePosition::default(); MAX_ROUNDS + 1],
            first_valid_round: 0,
            nmatches: 0,
        }
    }
}

/// A match, the round in which it was decoded, and the number of literals of the lane before it.
#[derive(Clone, Copy, Default)]
struct LaneMatch {
    round: u16,
    literals: u16,
    length: u16,
    distance: u16,
}

/// The position of a lane, in bits from the start of its stream, and the number of literals that it has decoded before.
#[derive(Clone, Copy, Default)]
struct LanePosition {
    at: u32,
    literals: u32,
}

/// The outcome of decoding with lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The next symbols can be decoded in the same way.
    Worthwhile,
    /// Lanes are not worthwhile here.
    NotWorthwhile,
}

impl Lanes {
    /// Decodes symbols from `out` on, in steps of three lanes, as long as that is worthwhile. Returns the position in
    /// `dest` behind the last byte written. An invalid stream is reported by the decoder of the next symbol.
    #[inline(always)]
    pub(super) fn decode_symbols<P: MatchCopy>(
        &mut self,
        codes: BlockTables,
        bits: &mut BitReader,
        dest: &mut [u8],
        out: usize,
    ) -> (usize, Outcome) {
        let Some(mut at) = bits.bit_position() else { return (out, Outcome::NotWorthwhile) };
        let mut output = InflateOutput { dest, written: out };
        let mut all = Outcome::NotWorthwhile;
        while let Outcome::Worthwhile = self.decode_step::<P>(codes, bits.src, &mut at, &mut output) {
            all = Outcome::Worthwhile;
        }
        bits.seek_bit(at);
        (output.written, all)
    }

    /// Decodes with all lanes from bit `at` on, appends their symbols to `output`, and moves `at` behind them.
    #[inline(always)]
    fn decode_step<P: MatchCopy>(
        &mut self,
        codes: BlockTables,
        src: &[u8],
        at: &mut usize,
        output: &mut InflateOutput,
    ) -> Outcome {
        let stream = &src[*at / 8..];
        let step = (stream.len() / LANES).min(MAX_LANE_STEP.get());
        if step < MIN_LANE_STEP.get() {
            return Outcome::NotWorthwhile;
        }
        let mut inside = *at % 8;
        let count = self.decode_rounds(codes, stream, inside, step * 8);
        let joined = self
            .0
            .iter()
            .take_while(|lane| {
                lane.synchronize_and_append::<P>(count, codes, stream, &mut inside, output).is_some()
            })
            .count();
        *at = *at / 8 * 8 + inside;
        let first = &self.0[0];
        let sparse = first.nmatches * MIN_LITERALS_PER_MATCH.get() <= first.rounds[count].literals as usize;
        if joined > 1 && sparse { Outcome::Worthwhile } else { Outcome::NotWorthwhile }
    }

    /// Decodes symbols in all lanes, of which the first begins `start` bits behind the beginning of `stream`, and each
    /// other `step` bits behind the one before. Returns the number of rounds.
    ///
    /// # Panics
    /// If `stream` is shorter than [`READ_AHEAD`].
    #[inline(always)]
    fn decode_rounds(&mut self, codes: BlockTables, stream: &[u8], start: usize, step: usize) -> usize {
        let mut at: [usize; LANES] = std::array::from_fn(|lane| start + lane * step);
        let mut literals = [0; LANES];
        let room = stream.len().checked_sub(READ_AHEAD).expect("at least READ_AHEAD bytes in `stream`");
        let (meeting, last_read) = (at[1], room * 8);
        self.0.iter_mut().for_each(|lane| (lane.first_valid_round, lane.nmatches) = (0, 0));
        let mut count = 0;
        let mut go_on = true;

        // One round of the lane `$index`. A macro, not a function, so that the changing state stays in registers.
        macro_rules! round {
            ($index:literal) => {{
                let lane = &mut self.0[$index];
                lane.rounds[count] = LanePosition { at: at[$index] as u32, literals: literals[$index] as u32 };
                // SAFETY: the loop checks that `at` is not behind `last_read`, READ_AHEAD bytes before the end of
                // `stream`, and each of at most MAX_ROUNDS rounds adds at most ROUND_LITERALS to `literals`.
                let all = unsafe {
                    let word = stream.as_ptr().add(at[$index] / 8).cast::<u64>().read_unaligned();
                    let mut word = u64::from_le(word) >> (at[$index] % 8);
                    let to = lane.literals.as_mut_ptr().add(literals[$index]);
                    let (mut done, mut used) = (0, 0);
                    while done < WORD_LITERALS {
                        let entry = codes.litlen.lookup(word);
                        if !entry.is_literal() {
                            break;
                        }
                        to.add(done).write(entry.byte());
                        done += 1;
                        word = entry.shift(word);
                        used = entry.add_to(used);
                    }
                    at[$index] += (used & 63) as usize;
                    literals[$index] += done;
                    done == WORD_LITERALS
                };
                if !all {
                    match codes.read_symbol(stream, at[$index]) {
                        Some((Symbol::Literal(byte), next)) => {
                            lane.literals[literals[$index]] = byte;
                            literals[$index] += 1;
                            at[$index] = next;
                        }
                        Some((Symbol::Match { distance, length }, next)) => {
                            lane.matches[lane.nmatches] = LaneMatch {
                                round: count as u16,
                                literals: literals[$index] as u16,
                                length: length as u16,
                                distance: distance as u16,
                            };
                            lane.nmatches += 1;
                            at[$index] = next;
                        }
                        // The first lane is at the boundary of a code, the others perhaps not yet.
                        _ if $index == 0 => go_on = false,
                        _ => {
                            at[$index] += 1;
                            lane.first_valid_round = count + 1;
                        }
                    }
                }
            }};
        }
        const { assert!(LANES == 3) };
        while go_on && count < MAX_ROUNDS && at[0] < meeting && at.iter().all(|&at| at <= last_read) {
            round!(0);
            round!(1);
            round!(2);
            count += 1;
        }
        for (index, lane) in self.0.iter_mut().enumerate() {
            lane.rounds[count] = LanePosition { at: at[index] as u32, literals: literals[index] as u32 };
        }
        count
    }
}

impl Lane {
    /// Decodes single symbols from bit `at` on until a round of this lane began there, and appends the symbols that the
    /// lane has decoded from there to the end of its last round, `count`. Returns `None` if that fails; `at` and
    /// `output` are at the boundary of a code in either case.
    #[inline(always)]
    fn synchronize_and_append<P: MatchCopy>(
        &self,
        count: usize,
        codes: BlockTables,
        stream: &[u8],
        at: &mut usize,
        output: &mut InflateOutput,
    ) -> Option<()> {
        let mut number = self.first_valid_round;
        let mut round = &self.rounds[number];
        let give_up = round.at as usize + MAX_SYNC_BITS.get();
        if *at + MAX_SYNC_BITS.get() < round.at as usize {
            return None;
        }
        while round.at as usize != *at {
            if (round.at as usize) < *at {
                number += 1;
                round = self.rounds[..=count].get(number)?;
            } else if *at <= give_up {
                codes.decode_symbol::<P>(stream, at, output)?;
            } else {
                return None;
            }
        }
        let before = output.written;
        if self.append_rounds::<P>(number, count, output).is_none() {
            output.written = before;
            return None;
        }
        *at = self.rounds[count].at as usize;
        Some(())
    }

    /// Appends the symbols of the rounds `begin..end` to `output`. Returns `None` if they do not fit with room for wide
    /// writes, or a match begins before `output`; some of them may have been appended then.
    #[inline(always)]
    fn append_rounds<P: MatchCopy>(
        &self,
        begin: usize,
        end: usize,
        output: &mut InflateOutput,
    ) -> Option<()> {
        let (mut copied, literals) =
            (self.rounds[begin].literals as usize, self.rounds[end].literals as usize);
        let matches = &self.matches[..self.nmatches];
        let before = matches.iter().take_while(|found| usize::from(found.round) < begin).count();
        for found in &matches[before..] {
            let run = usize::from(found.literals) - copied;
            output.append_literals(&self.literals[copied..], run)?;
            copied += run;
            output.append_match::<P>(usize::from(found.distance), usize::from(found.length))?;
        }
        output.append_literals(&self.literals[copied..], literals - copied)
    }
}
