//! The contents of the frames: each chunk and each metalayer states the commit that wrote it, and determines all of its
//! other bytes.

use crate::support::random::Random;

/// Items of a chunk.
pub const CHUNK_NITEMS: usize = 1000;
/// The size of a chunk in bytes.
pub const NBYTES: usize = CHUNK_NITEMS * 4;
/// The number of words of a chunk before the series: commit, place, and a check value.
const HEAD: usize = 3;

fn random_of(place: u64, commit: u64) -> Random {
    Random::of_item(place.wrapping_mul(0x1_0000_0001), commit)
}

/// Returns the content that commit `commit` writes to the chunk at `place`. A part of the words is random, so that
/// the compressed sizes of two commits differ.
pub fn chunk_content(place: u64, commit: u64) -> Vec<u8> {
    let mut random = random_of(place, commit);
    let check = random.next() as u32;
    let noise = random.below(CHUNK_NITEMS - HEAD);
    let head = [commit as u32, place as u32, check];
    let series = (HEAD..CHUNK_NITEMS).map(|n| if n < noise { random.next() as u32 } else { commit as u32 });
    head.into_iter().chain(series).flat_map(u32::to_le_bytes).collect()
}

/// Returns the commit that wrote the chunk at `place`; `None` if its content is no commit's.
pub fn commit_of_chunk(bytes: &[u8], place: u64) -> Option<u64> {
    let commit = u64::from(u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?));
    (bytes == chunk_content(place, commit)).then_some(commit)
}

/// Returns the content of the metalayer after commit `commit`: up to 500 bytes.
pub fn note_content(commit: u64) -> Vec<u8> {
    let mut random = random_of(u64::MAX, commit);
    let len = random.below(490);
    let mut bytes = commit.to_le_bytes().to_vec();
    bytes.extend(random.bytes(len));
    bytes
}

/// Returns the commit that wrote the metalayer; `None` if its content is no commit's.
pub fn commit_of_note(bytes: &[u8]) -> Option<u64> {
    let commit = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    (bytes == note_content(commit)).then_some(commit)
}
