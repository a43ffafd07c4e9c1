//! Decompresses a chunk into its bytes (`chunk.md` 2 and 4).
//!
//! Data flow: parsed header -> [class](crate::chunk::class) of the chunk -> [plan](plan::DecodePlan), which checks the
//! chunk as a whole and finds its blocks -> blocks, each decoded [whole](block) or [in part](part) -> destination or
//! [sink](sink::BlockSink).
//!
//! Every read takes this path: [whole chunks](whole), [ranges of items](items), [blocks for a sink](sink), [blocks of
//! variable length](varlen) and the [chunk that a changed one is made from](old_chunk). Short chunks of one block have
//! a [fast path](single) with the same classification.

mod block;
mod codec;
mod items;
mod lazy;
mod old_chunk;
mod outcome;
mod part;
mod plan;
mod ranges;
mod single;
mod sink;
mod streams;
mod varlen;
mod whole;

#[cfg(test)]
mod lazy_tests;
#[cfg(test)]
mod part_tests;

pub(crate) use items::{ItemRange, RangeReader, getitem};
pub(crate) use old_chunk::OldChunk;
pub(crate) use outcome::Decompressed;
pub(crate) use part::{decodes_prefixes, is_worth_keeping, skips_enough};
pub(crate) use ranges::ByteRanges;
pub(crate) use single::decompress_single;
pub(crate) use sink::{BlockContent, BlockSink, decode_into_sink};
pub(crate) use varlen::VarlenReader;
pub(crate) use whole::{decompress, decompress_general};
