//! Lazy chunks, made from whole chunks as a frame would make them (`chunk.md` 1.17), whose blocks are read through a
//! callback.

use super::{Decompressed, ItemRange, VarlenReader};
use crate::abi::{BLOSC_LZ4, BLOSC_ZSTD};
use crate::chunk::format::{flag2, offset};
use crate::chunk::lazy::{BlockSource, ChunkPlace};
use crate::chunk::{ChunkHeader, StoredChunk, read_i32, write_i32};
use crate::err;
use crate::error::{ErrorKind, Result};
use crate::pipeline::compress::{Source, compress};
use crate::pipeline::params::{CompressParams, DecompressParams};

/// Offset in bytes of the whole chunk in the simulated frame.
const CHUNK_OFFSET: i64 = 77;

struct Frame(Vec<u8>);

impl BlockSource for Frame {
    fn read(&self, place: ChunkPlace, position: u64, dest: &mut [u8]) -> Result<()> {
        assert_eq!(place, ChunkPlace { nchunk: 3, offset: CHUNK_OFFSET });
        let start = place.offset as usize + position as usize;
        match self.0.get(start..start + dest.len()) {
            Some(bytes) => dest.copy_from_slice(bytes),
            None => return Err(err!(ReadBuffer, "the frame ends")),
        }
        Ok(())
    }
}

fn data(len: usize) -> Vec<u8> {
    (0..len as u32 / 4).flat_map(|i| (i * i / 7 % 1000).to_le_bytes()).collect()
}

fn params() -> CompressParams {
    CompressParams { compcode: BLOSC_LZ4, typesize: 4, blocksize: 4000, ..CompressParams::default() }
}

fn chunk_of(params: &CompressParams, source: Source<'_>) -> Vec<u8> {
    let mut chunk = vec![0; source.len() + 4096 + 40_000];
    let header = compress(params, source, &mut chunk).unwrap();
    assert!(header.cbytes > 0);
    chunk.truncate(header.cbytes as usize);
    chunk
}

/// Returns the lazy form of `chunk`, and the frame that holds the chunk.
fn lazy_of(chunk: &[u8]) -> (Vec<u8>, Frame) {
    let header = ChunkHeader::parse(chunk).unwrap();
    let blocks = crate::chunk::Blocks::of(&header);
    let nblocks = if header.has_varlen_blocks() { header.blocksize as usize } else { blocks.count() };
    let tables = header.len() + 4 * nblocks;
    let mut lazy = if header.is_memcpyed() { vec![0xee; tables] } else { chunk[..tables].to_vec() };
    lazy[..32].copy_from_slice(&chunk[..32]);
    lazy[offset::BLOSC2_FLAGS] |= flag2::LAZY;
    lazy.extend_from_slice(&3i32.to_le_bytes());
    lazy.extend_from_slice(&CHUNK_OFFSET.to_le_bytes());
    let start = |n: usize| read_i32(chunk, header.len() + 4 * n).unwrap();
    for n in 0..nblocks {
        let len = match n + 1 {
            _ if header.is_memcpyed() => blocks.range(n).len() as i32,
            next if next < nblocks => start(next) - start(n),
            _ => header.cbytes - start(n),
        };
        lazy.extend_from_slice(&len.to_le_bytes());
    }
    let mut frame = vec![0xaa; CHUNK_OFFSET as usize];
    frame.extend_from_slice(chunk);
    (lazy, Frame(frame))
}

/// Decompresses the serialised lazy chunk, whose blocks are in `frame`, on `nthreads` threads.
fn decompress(frame: Option<&Frame>, nthreads: usize, chunk: &[u8], dest: &mut [u8]) -> Result<Decompressed> {
    let params = DecompressParams { nthreads, ..DecompressParams::default() };
    let source = frame.map(|frame| frame as &dyn BlockSource);
    let mut header = ChunkHeader::default();
    super::decompress(&params, &StoredChunk::parse(&mut header, chunk)?.with_source(source), dest.into())
}

fn getitem(frame: &Frame, chunk: &[u8], wanted: ItemRange, dest: &mut [u8]) -> Result<Decompressed> {
    let mut header = ChunkHeader::default();
    let chunk = StoredChunk::parse(&mut header, chunk)?.with_source(Some(frame));
    super::getitem(&DecompressParams::default(), &chunk, wanted, dest.into())
}

#[test]
fn lazy_chunks_of_every_kind_are_read() {
    let data = data(100_000);
    let delta = CompressParams { filters: [0, 0, 0, 1, 3, 2], ..params() };
    let kinds = [
        params(),
        CompressParams { clevel: 0, ..params() },
        CompressParams { filters: [0; 6], ..params() },
        CompressParams { use_dict: true, ..params() },
        CompressParams { use_dict: true, compcode: BLOSC_ZSTD, ..params() },
        delta,
    ];
    for params in kinds {
        let (lazy, frame) = lazy_of(&chunk_of(&params, Source::Buffer(&data)));
        for nthreads in [1, 3] {
            let mut dest = vec![0; data.len()];
            let done = decompress(Some(&frame), nthreads, &lazy, &mut dest).unwrap();
            assert_eq!(done.used_dictionary, params.use_dict);
            assert!(dest == data);
        }
        for (start, nitems) in [(0, 1), (999, 2), (5000, 7000), (24_999, 1)] {
            let mut dest = vec![0; nitems as usize * 4];
            getitem(&frame, &lazy, ItemRange::Items { start, nitems }, &mut dest).unwrap();
            assert!(dest == data[start as usize * 4..][..nitems as usize * 4]);
        }
    }
}

#[test]
fn lazy_variable_length_blocks_are_read() {
    let data = data(6000);
    let sources: Vec<&[u8]> = vec![&data[..100], &data[100..5000], &data[5000..5004], &data[5004..]];
    let (lazy, frame) = lazy_of(&chunk_of(&params(), Source::Blocks(&sources)));
    let mut dest = vec![0; data.len()];
    decompress(Some(&frame), 1, &lazy, &mut dest).unwrap();
    assert!(dest == data);
    let mut header = ChunkHeader::default();
    let chunk = StoredChunk::parse(&mut header, &lazy).unwrap().with_source(Some(&frame));
    VarlenReader::open(&DecompressParams::default(), &chunk, |reader| {
        for (nblock, source) in sources.iter().enumerate() {
            let mut dest = vec![0; reader.nbytes(nblock)];
            reader.decode(nblock, dest[..].as_mut().into())?;
            assert!(dest == *source);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn bad_lazy_chunks_have_their_codes() {
    let data = data(20_000);
    let (lazy, frame) = lazy_of(&chunk_of(&params(), Source::Buffer(&data)));
    let code = |lazy: &[u8], frame: Option<&Frame>| {
        decompress(frame, 1, lazy, &mut vec![0; data.len()]).unwrap_err().kind()
    };
    assert_eq!(code(&lazy, None), ErrorKind::InvalidParam);
    for len in 33..lazy.len() {
        assert_eq!(code(&lazy[..len], Some(&frame)), ErrorKind::ReadBuffer, "{len}");
    }
    let trailer = 32 + 4 * 5;
    let with = |at: usize, value: i32| {
        let mut bad = lazy.clone();
        write_i32(&mut bad, at, value);
        code(&bad, Some(&frame))
    };
    // A negative offset; invalid lengths.
    assert_eq!(with(trailer + 8, -1), ErrorKind::InvalidHeader);
    for length in [0, -5, 4000 + 17, i32::MAX] {
        assert_eq!(with(trailer + 12, length), ErrorKind::InvalidHeader);
    }
    // A block that begins beyond the frame.
    assert_eq!(with(32, 1_000_000), ErrorKind::ReadBuffer);
    assert_eq!(with(32, -1), ErrorKind::Data);
}
