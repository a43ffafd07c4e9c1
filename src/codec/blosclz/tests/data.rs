//! Test inputs: the kinds of streams that Blosc produces.

use crate::random::Random;

/// The number of kinds of [`generate_sample`].
pub(super) const KINDS: usize = 7;

/// `len` bytes of the given kind: noise, few symbols, text, ramp, constant, runs, short patterns with mistakes.
pub(super) fn generate_sample(random: &mut Random, kind: usize, len: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 64);
    match kind {
        0 => out.extend((0..len).map(|_| random.next() as u8)),
        1 => out.extend((0..len).map(|_| (random.next() % 3) as u8)),
        2 => {
            let words = ["the ", "quick", " brown ", "fox jumps", "over ", "a lazy dog", ". ", "\n", "blosc"];
            while out.len() < len {
                out.extend_from_slice(words[random.below(words.len())].as_bytes());
            }
        }
        3 => {
            let step = 1 + random.below(4);
            out.extend((0..len).map(|i| (i / step) as u8));
        }
        4 => out.resize(len, random.next() as u8),
        5 => {
            while out.len() < len {
                let most = 1 << random.below(10);
                let run = 1 + random.below(most);
                out.resize(out.len() + run, random.next() as u8);
            }
        }
        _ => {
            let period = 1 + random.below(40);
            let pattern: Vec<u8> = (0..period).map(|_| random.next() as u8).collect();
            while out.len() < len {
                out.push(pattern[out.len() % period]);
                if random.below(60) == 0 {
                    out.push(random.next() as u8);
                }
            }
        }
    }
    out.truncate(len);
    out
}
