//! Tests the decoder against a byte-by-byte decoder, and with blocks from our encoders.

use super::*;
use crate::codec::lz4::{Lz4Workspace, compress_fast, compress_hc};

/// Decodes a block byte by byte.
fn naive_decode(src: &[u8], capacity: usize, dictionary: &[u8]) -> Option<Vec<u8>> {
    let mut all = dictionary.to_vec();
    let mut bytes = src.iter().map(|&b| usize::from(b));
    loop {
        let token = bytes.next()?;
        let length = |nibble: usize, bytes: &mut dyn Iterator<Item = usize>| {
            let mut length = nibble;
            let mut more = if nibble == 15 { 255 } else { 0 };
            while more == 255 {
                more = bytes.next()?;
                length += more;
            }
            Some(length)
        };
        for _ in 0..length(token >> 4, &mut bytes)? {
            all.push(bytes.next()? as u8);
        }
        if all.len() - dictionary.len() > capacity {
            return None;
        }
        if bytes.len() == 0 {
            return Some(all[dictionary.len()..].to_vec());
        }
        let distance = bytes.next()? + bytes.next()? * 256;
        let length = length(token & 15, &mut bytes)? + 4;
        if distance == 0 || distance > all.len() || all.len() - dictionary.len() + length > capacity {
            return None;
        }
        (0..length).for_each(|_| all.push(all[all.len() - distance]));
    }
}

/// Decodes a block with several amounts of room behind the two buffers, checks that the results agree, and returns
/// the result.
fn decode_all_ways(src: &[u8], capacity: usize, dictionary: &[u8]) -> Option<Vec<u8>> {
    let decode = |read_ahead: usize, write_ahead: usize, form: Option<DecodeLoop>| {
        let mut ahead = src.to_vec();
        ahead.extend((0..read_ahead).map(|i| (i * 37) as u8));
        let mut dest = vec![0xa5; capacity + write_ahead + 8];
        let room = &mut dest[4..4 + capacity + write_ahead];
        let src = BlockWithSlack { readable: &ahead, len: src.len() };
        let written = match form {
            Some(run) => decode_with_loop(run, &src, room, capacity, dictionary),
            None => decode_lz4_block(src, room, capacity, dictionary),
        };
        let outside = dest[..4].iter().chain(&dest[4 + capacity + write_ahead..]);
        assert!(outside.into_iter().all(|&b| b == 0xa5), "wrote outside dest");
        written.map(|written| dest[4..4 + written].to_vec())
    };
    let tight = decode(0, 0, None);
    let rooms: &[_] = if cfg!(miri) {
        &[(1, 60), (100, 200)]
    } else {
        &[(40, 0), (0, 200), (1, 60), (7, 130), (19, 98), (300, 3000)]
    };
    for &(read_ahead, write_ahead) in rooms {
        let room = format!("{read_ahead} and {write_ahead} bytes of room");
        assert!(decode(read_ahead, write_ahead, None) == tight, "{room}");
        for (form, &run) in LOOP_VARIANTS.iter().enumerate() {
            assert!(decode(read_ahead, write_ahead, Some(run)) == tight, "form {form}, {room}");
        }
    }
    tight
}

/// Decodes sequences as far as the buffers have room.
type DecodeLoop = fn(&BlockWithSlack<'_>, &mut [u8], &mut DecodeProgress) -> Option<()>;

/// Every form of the fast loop.
const LOOP_VARIANTS: [DecodeLoop; 2] = [kernel::decode_sequences, kernel::decode_sequences_portable];

/// Decodes `block` with one form of the fast loop. The sequences that this loop does not handle are decoded as in
/// [`decode_lz4_block`](super::decode_lz4_block).
fn decode_with_loop(
    run: DecodeLoop,
    src: &BlockWithSlack<'_>,
    dest: &mut [u8],
    dest_len: usize,
    dictionary: &[u8],
) -> Option<usize> {
    let block = &src.readable[..src.len];
    let mut progress = DecodeProgress::default();
    loop {
        run(src, dest, &mut progress)?;
        if progress.at == block.len() + 1 {
            return Some(progress.out).filter(|&out| out <= dest_len);
        }
        (progress.at, progress.out) =
            decode_sequence(block, dest, dest_len, dictionary, progress.at, progress.out)?;
        if progress.at == block.len() + 1 {
            return Some(progress.out);
        }
    }
}

/// Returns the number of rounds of a test that has `all` of them: fewer under Miri, which is a thousand times slower.
fn rounds(all: usize) -> usize {
    if cfg!(miri) { all.div_ceil(1000) } else { all }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Returns a block of sequences of all kinds, most of them valid.
fn random_block(count: usize, dictionary: usize, random: &mut Random) -> Vec<u8> {
    let (mut block, mut out) = (vec![], dictionary);
    let put = |length: usize, block: &mut Vec<u8>| {
        if length >= 15 {
            block.extend(std::iter::repeat_n(255, (length - 15) / 255));
            block.push(((length - 15) % 255) as u8);
        }
    };
    for i in 0..count {
        let literals =
            [0, random.below(3), random.below(20), random.below(80), random.below(600)][random.below(5)];
        let literals = literals.max(usize::from(i == 0));
        let longest = if cfg!(miri) { 400 } else { 3000 };
        let length =
            [random.below(4), random.below(30), random.below(300), random.below(longest)][random.below(4)];
        block.push((literals.min(15) << 4 | length.min(15)) as u8);
        put(literals, &mut block);
        block.extend((0..literals).map(|_| random.below(256) as u8));
        out += literals;
        let reach = [1, 16, 40, 80, 65535, 66000][random.below(6)];
        // Occasionally the match begins before the start.
        let reach = reach.min(out + usize::from(random.below(300) == 0));
        let distance = 1 + random.below(reach);
        block.extend((distance.min(65535) as u16).to_le_bytes());
        put(length, &mut block);
        out += length + 4;
    }
    let literals = random.below(40);
    block.push((literals.min(15) << 4) as u8);
    put(literals, &mut block);
    block.extend((0..literals).map(|_| random.below(256) as u8));
    block
}

#[test]
fn decoder_agrees_with_the_naive_decoder() {
    let mut random = Random(1);
    let dictionary: Vec<u8> = (0..5000).map(|_| random.below(256) as u8).collect();
    let (mut good, mut bad) = (0, 0);
    let rounds = rounds(3000);
    for round in 0..rounds {
        let dictionary = &dictionary[..[0, 0, 7, 5000][round % 4]];
        let count = [0, 1, 3, if cfg!(miri) { 5 } else { 40 }][random.below(4)];
        let mut block = random_block(count, dictionary.len(), &mut random);
        if random.below(4) == 0 {
            let at = random.below(block.len());
            block[at] ^= 1 << random.below(8);
        }
        if random.below(8) == 0 {
            block.truncate(random.below(block.len()));
        }
        let len = naive_decode(&block, 1 << 20, dictionary).map_or(300, |plain| plain.len());
        let capacities = [len, len.saturating_sub(1), len + 50, random.below(len + 1), len + 1, len + 500];
        for capacity in capacities.into_iter().take(if cfg!(miri) { 4 } else { 6 }) {
            let expected = naive_decode(&block, capacity, dictionary);
            good += usize::from(expected.is_some());
            bad += usize::from(expected.is_none());
            assert!(
                decode_all_ways(&block, capacity, dictionary) == expected,
                "round {round}, capacity {capacity}"
            );
        }
    }
    assert!(good > rounds && bad > rounds, "{good} good, {bad} bad");
}

#[test]
fn short_matches_at_all_distances_decode() {
    let mut random = Random(3);
    for round in 0..rounds(200) {
        let (mut block, mut out) = (vec![], 0);
        while block.len() < if cfg!(miri) { 500 } else { 12_000 } {
            let few = usize::from(random.below([50, 1000][round % 2]) == 0);
            let (literals, length) = (if out == 0 { 14 } else { few }, random.below(15));
            block.push((literals << 4 | length) as u8);
            block.extend((0..literals).map(|_| random.below(256) as u8));
            out += literals;
            let reach = [1, 8, 20, 40, 60_000][random.below(5)].min(out);
            block.extend((1 + random.below(reach) as u16).to_le_bytes());
            out += length + 4;
        }
        block.extend([0x10, 7]);
        let plain = naive_decode(&block, 1 << 20, &[]);
        assert_eq!(plain.as_ref().map(Vec::len), Some(out + 1));
        assert!(decode_all_ways(&block, out + 1, &[]) == plain, "round {round}");
    }
}

#[test]
fn blocks_of_our_encoders_decode_to_the_input() {
    let mut random = Random(2);
    let mut state = Lz4Workspace::default();
    for round in 0..rounds(400) {
        let count = random.below(if cfg!(miri) { 6 } else { 60 });
        let plain = naive_decode(&random_block(count, 0, &mut random), 1 << 20, &[]).unwrap_or_default();
        let mut stream = vec![0; plain.len() * 2 + 100];
        let written = if round % 2 == 0 {
            compress_fast(&mut state, &plain, &mut stream, 1 + (round % 9) as i32, None).unwrap()
        } else {
            compress_hc(&mut state, &plain, &mut stream, 1 + (round % 9) as i32, None).unwrap()
        };
        assert!(decode_all_ways(&stream[..written], plain.len(), &[]) == Some(plain));
    }
}

#[test]
fn unterminated_lengths_are_rejected() {
    let many = if cfg!(miri) { 100 } else { 100_000 };
    for tail in [0, 1, 100] {
        let stream = [vec![0xf0], vec![255; many], vec![7; tail]].concat();
        assert_eq!(decode_all_ways(&stream, 1000, &[]), None);
        let stream = [vec![0x1f, 1, 1, 0], vec![255; many], vec![0; tail]].concat();
        assert_eq!(decode_all_ways(&stream, 1000, &[]), None);
    }
    assert_eq!(decode_all_ways(&[], 10, &[]), None);
    assert_eq!(decode_all_ways(&[0], 10, &[]).as_deref(), Some(&[][..]));
}
