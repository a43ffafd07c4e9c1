//! Our own deflate encoder (RFC 1951), for streams that repeat themselves a lot: runs and periods above all, which are
//! what shuffling makes of numbers.
//!
//! Data flow: stream -> [`parse`]: sequences -> [`split`]: blocks -> [`block`]: counts, codes ([`huffman`]), bits ([`bits`]);
//! at level 1, [`quick`] does it all in one go. Owns the efforts by level. Never decides which streams come here.

mod bits;
mod block;
mod huffman;
mod parse;
mod quick;
mod split;

use bits::Bits;
use parse::{Effort, Sequence, Tables};

/// Sequences that are searched for before they are coded.
const BATCH: usize = 16 << 10;

/// By zlib's level - 2: the least that gives about the size of the reference's streams at that level.
const EFFORTS: [Effort; 8] = [
    Effort { depth: 1, nice: 32, lazy: false, patience: 128, triples: false },
    Effort { depth: 2, nice: 32, lazy: false, patience: 256, triples: false },
    Effort { depth: 4, nice: 32, lazy: false, patience: 512, triples: false },
    Effort { depth: 4, nice: 32, lazy: true, patience: 512, triples: false },
    Effort { depth: 8, nice: 64, lazy: true, patience: 512, triples: false },
    Effort { depth: 16, nice: 128, lazy: true, patience: 512, triples: false },
    Effort { depth: 32, nice: 258, lazy: true, patience: 512, triples: false },
    Effort { depth: 128, nice: 258, lazy: true, patience: 512, triples: true },
];

/// Streams up to this length, in bytes, get the effort of so many levels more: where there are few repetitions each of them
/// counts.
const SHORT: usize = 8192;
const MORE_EFFORT: usize = 2;

/// The memory of one thread.
#[derive(Default)]
pub struct State {
    places: quick::Places,
    tables: Tables,
    sequences: Vec<Sequence>,
}

/// Compresses `src` as raw deflate at zlib's `level` 1..=9; the length, or `None` if it does not fit.
pub fn compress(state: &mut State, src: &[u8], dest: &mut [u8], level: usize) -> Option<usize> {
    let Some(effort) = level.checked_sub(2) else { return quick::compress(&mut state.places, src, dest) };
    let more = if src.len() <= SHORT { MORE_EFFORT } else { 0 };
    let effort = EFFORTS[(effort + more).min(EFFORTS.len() - 1)];
    let mut parser = state.tables.parser(src, effort);
    let mut bits = Bits::new(dest);
    let mut start = 0;
    loop {
        let end = parser.sequences(BATCH, &mut state.sequences);
        split::blocks(&state.sequences, &src[start..end], |sequences, bytes, is_last| {
            block::write(sequences, bytes, is_last && end == src.len(), &mut bits)
        })?;
        start = end;
        if end == src.len() {
            return bits.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::zlib::inflate::Inflater;

    #[test]
    fn every_decoder_gets_the_stream_back() {
        let mut x = 1u64;
        let mut random = move |bound: usize| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as usize % bound
        };
        let (mut state, mut inflater) = (State::default(), Inflater::default());
        for round in 0..400 {
            let len = [round, random(5000), random(300_000)][round % 3];
            let mut src: Vec<u8> = vec![];
            while src.len() < len {
                match random(4) {
                    0 => src.extend((0..random(500)).map(|_| random(256) as u8)),
                    1 => src.extend(std::iter::repeat_n(random(256) as u8, random(5000))),
                    2 if src.len() > 9 => {
                        let distance = 1 + random(src.len().min(50_000));
                        (0..random(700)).for_each(|_| src.push(src[src.len() - distance]));
                    }
                    _ => src.extend((0..random(500)).map(|_| random(5) as u8)),
                }
            }
            for level in 1..=9 {
                let mut dest = vec![0xa5; src.len() + src.len() / 1000 + 64];
                let written = compress(&mut state, &src, &mut dest, level).expect("there is room");
                assert!(dest[written + 8..].iter().all(|&byte| byte == 0xa5));
                let mut back = vec![0; src.len()];
                let decoded = libdeflate_sys_decode(&dest[..written], &mut back);
                assert!(decoded && back == src, "round {round}, level {level}");
                let room = written.saturating_sub(1 + random(3));
                let mut tight = vec![0; written];
                assert_eq!(compress(&mut state, &src, &mut tight[..room], level), None);
                assert_eq!(compress(&mut state, &src, &mut tight, level), Some(written));
                assert!(tight == dest[..written], "the same stream twice");
            }
            let mut zlib = vec![0; src.len() + src.len() / 1000 + 70];
            let len = crate::codec::zlib::own(&mut state, &src, &mut zlib, 5);
            let mut back = vec![0; src.len()];
            let adler32 = crate::codec::zlib::libdeflate::adler32;
            assert_eq!(inflater.zlib(&zlib[..len], &mut back, adler32), Some(src.len()));
            assert!(back == src);
        }
    }

    /// The C library's decoder.
    fn libdeflate_sys_decode(deflate: &[u8], dest: &mut [u8]) -> bool {
        use libdeflate_sys::{
            libdeflate_alloc_decompressor, libdeflate_deflate_decompress, libdeflate_free_decompressor,
        };
        // SAFETY: a decompressor that is freed below; the buffers are as long as told.
        unsafe {
            let decompressor = libdeflate_alloc_decompressor();
            let mut len = 0;
            let result = libdeflate_deflate_decompress(
                decompressor,
                deflate.as_ptr().cast(),
                deflate.len(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                &raw mut len,
            );
            libdeflate_free_decompressor(decompressor);
            result == 0 && len == dest.len()
        }
    }
}
