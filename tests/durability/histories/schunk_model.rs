//! A model of a super-chunk: the number from which each chunk was made.

use std::path::Path;

use crate::contents::Contents;
use crate::operations::ours;
use crate::operations::setups::{add_long_metalayers, noise, params};
use crate::support::calls::{Special, compress, special_chunk};
use crate::support::random::Random;
use crate::support::super_chunk::{Store, SuperChunk};

/// The number of items of a chunk, also of a large one.
const ITEMS: usize = 400;
const LARGE_ITEMS: usize = 20_000;
/// The largest number of chunks.
const MAX_CHUNKS: usize = 12;
/// The names of the metalayers that are changed.
const META: &str = "counter";
const VLMETA: &str = "notes";

#[derive(Clone)]
pub struct SchunkModel {
    /// The number of each chunk; `None` for zeros.
    chunks: Vec<Option<u64>>,
    meta: u64,
    vlmeta: Option<u64>,
    is_header_long: bool,
    /// Number of items of a chunk.
    items: usize,
}

/// A change of a super-chunk. The numbers give positions and contents.
#[derive(Clone, Debug)]
pub enum Change {
    Append(u64),
    Insert(usize, u64),
    Update(usize, u64),
    UpdateWithZeros(usize),
    /// Overwrites as many whole chunks as the last field says, from one on, in one call.
    SetSlice(usize, u64, usize),
    Delete(usize),
    Reverse(usize),
    SetMeta(u64),
    AddVlmeta(u64),
    UpdateVlmeta(u64),
    DeleteVlmeta,
}

/// Returns the bytes of chunk `number`. They begin with the number. A third of the chunks is noise, the others compress
/// to different lengths.
fn bytes_of(number: u64, items: usize) -> Vec<u8> {
    let noise_len = [items - 2, items / 2, 10][number as usize % 3];
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend(noise(number, noise_len));
    bytes.resize(4 * items, number as u8);
    bytes
}

/// Returns the numbers of the chunks that a slice writes.
fn numbers_of_slice(number: u64, count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(move |index| number + (index << 40))
}

fn meta_of(number: u64) -> Vec<u8> {
    [number.to_le_bytes(), (!number).to_le_bytes()].concat()
}

fn vlmeta_of(number: u64) -> Vec<u8> {
    noise(number, 5 + number as usize % 100)
}

impl SchunkModel {
    /// Returns the state before the first step.
    pub fn new(is_header_long: bool) -> SchunkModel {
        SchunkModel { chunks: Vec::new(), meta: 0, vlmeta: None, is_header_long, items: ITEMS }
    }

    /// Returns the state before the first step, for chunks that need memory of more than 64 KiB.
    pub fn large() -> SchunkModel {
        SchunkModel { items: LARGE_ITEMS, ..SchunkModel::new(false) }
    }

    /// Returns the number of items of a chunk.
    pub fn items(&self) -> usize {
        self.items
    }

    pub fn make(&self, store: Store, path: &Path) {
        let schunk = SuperChunk::create(ours(), store, path, &params());
        assert_eq!(schunk.meta_add(META, &meta_of(self.meta)), 0);
        if self.is_header_long {
            add_long_metalayers(&schunk);
        }
    }

    /// Draws a change, applies it and returns it. A chunk that the change writes is made from `number`.
    pub fn advance(&mut self, random: &mut Random, number: u64) -> Change {
        let change = self.draw(random, number);
        match &change {
            Change::Append(number) => self.chunks.push(Some(*number)),
            Change::Insert(at, number) => self.chunks.insert(*at, Some(*number)),
            Change::Update(at, number) => self.chunks[*at] = Some(*number),
            Change::UpdateWithZeros(at) => self.chunks[*at] = None,
            Change::SetSlice(first, number, count) => {
                for (at, number) in numbers_of_slice(*number, *count).enumerate() {
                    self.chunks[first + at] = Some(number);
                }
            }
            Change::Delete(at) => {
                self.chunks.remove(*at);
            }
            Change::Reverse(_) => self.chunks.reverse(),
            Change::SetMeta(number) => self.meta = *number,
            Change::AddVlmeta(number) | Change::UpdateVlmeta(number) => self.vlmeta = Some(*number),
            Change::DeleteVlmeta => self.vlmeta = None,
        }
        change
    }

    fn draw(&self, random: &mut Random, number: u64) -> Change {
        let count = self.chunks.len();
        if count >= MAX_CHUNKS {
            return Change::Delete(random.below(count));
        }
        if count < 2 {
            return Change::Append(number);
        }
        match random.below(16) {
            14 | 15 => {
                let first = random.below(count);
                Change::SetSlice(first, number, 1 + random.below(count - first))
            }
            0..4 => Change::Append(number),
            4 | 5 => Change::Insert(random.below(count + 1), number),
            6 | 7 => Change::Update(random.below(count), number),
            8 => Change::UpdateWithZeros(random.below(count)),
            9 => Change::Delete(random.below(count)),
            10 => Change::Reverse(count),
            11 => Change::SetMeta(number),
            12 if self.vlmeta.is_some() => Change::DeleteVlmeta,
            _ if self.vlmeta.is_some() => Change::UpdateVlmeta(number),
            _ => Change::AddVlmeta(number),
        }
    }

    /// Returns what differs in the state that a library has read.
    pub fn describe_difference(&self, contents: &Contents) -> String {
        let numbers = contents.chunks.iter().map(|chunk| {
            chunk.as_ref().map(|chunk| u64::from_le_bytes(chunk[..8].try_into().expect("8 bytes")))
        });
        format!(
            "chunks {:?}, expected {:?}; meta {}, vlmeta {:?}, found {:?}",
            numbers.collect::<Vec<_>>(),
            self.chunks,
            self.meta,
            self.vlmeta,
            contents.vlmetalayers
        )
    }

    pub fn matches(&self, contents: &Contents) -> bool {
        let bytes_of = |number| bytes_of(number, self.items);
        let chunk_of = |number: &Option<u64>| Ok(number.map_or(vec![0; 4 * self.items], bytes_of));
        let vlmeta = self.vlmeta.map(|number| (VLMETA.as_bytes().to_vec(), Ok(vlmeta_of(number))));
        let meta = contents.metalayers.iter().find(|(name, _)| name == META.as_bytes());
        contents.chunks == self.chunks.iter().map(chunk_of).collect::<Vec<_>>()
            && meta.is_some_and(|(_, content)| *content == Ok(meta_of(self.meta)))
            && contents.vlmetalayers == Vec::from_iter(vlmeta)
    }
}

impl Change {
    /// Makes the change of a super-chunk with chunks of `items` items. Returns whether it has succeeded.
    pub fn run(&self, schunk: &SuperChunk, items: usize) -> bool {
        let bytes_of = |number| bytes_of(number, items);
        let compressed =
            |number: u64| compress(ours(), &params(), &bytes_of(number), 4 * items + 100).expect("a chunk");
        match *self {
            Change::Append(number) => schunk.append(&bytes_of(number)).is_ok(),
            Change::Insert(at, number) => schunk.insert_chunk(at as i64, &compressed(number)).is_ok(),
            Change::Update(at, number) => schunk.update_chunk(at as i64, &compressed(number)).is_ok(),
            Change::UpdateWithZeros(at) => {
                let zeros = special_chunk(ours(), &params(), Special::Zeros, 4 * items as i32, 32);
                schunk.update_chunk(at as i64, &zeros.expect("a chunk")).is_ok()
            }
            Change::SetSlice(first, number, count) => {
                let bytes: Vec<u8> = numbers_of_slice(number, count).flat_map(bytes_of).collect();
                schunk.set_slice((first * items) as i64, ((first + count) * items) as i64, &bytes) >= 0
            }
            Change::Delete(at) => schunk.delete_chunk(at as i64).is_ok(),
            Change::Reverse(count) => schunk.reorder(&(0..count as i64).rev().collect::<Vec<_>>()) >= 0,
            Change::SetMeta(number) => schunk.meta_update(META, &meta_of(number)) >= 0,
            Change::AddVlmeta(number) => schunk.vlmeta_add(VLMETA, &vlmeta_of(number)) >= 0,
            Change::UpdateVlmeta(number) => schunk.vlmeta_update(VLMETA, &vlmeta_of(number)) >= 0,
            Change::DeleteVlmeta => schunk.vlmeta_delete(VLMETA) >= 0,
        }
    }
}
