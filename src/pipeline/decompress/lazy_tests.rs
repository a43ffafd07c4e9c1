//! Lazy chunks, made from whole chunks as a frame would make them (`chunk.md` 1.17), whose blocks are read through a
//! callback.

use super::{DecompressOutcome, ItemRange, VarlenReader};
use crate::abi::{BLOSC_LZ4, BLOSC_ZSTD};
use crate::chunk::format::{flag2, offset};
use crate::chunk::lazy::{BlockSource, ChunkLocation};
use crate::chunk::{ChunkHeader, ParsedChunk, read_i32, write_i32};
use crate::err;
use crate::error::{ErrorKind, Result};
use crate::pipeline::compress::{ContentSource, compress};
use crate::pipeline::params::{CompressParams, DecompressParams};

/// Offset in bytes of the whole chunk in the simulated frame.
const CHUNK_OFFSET: i64 = 77;

struct SimulatedFrame(Vec<u8>);

impl BlockSource for SimulatedFrame {
    fn read(&self, location: ChunkLocation, position: u64, dest: &mut [u8]) -> Result<()> {
        assert_eq!(location, ChunkLocation { nchunk: 3, offset: CHUNK_OFFSET });
        let start = location.offset as usize + position as usize;
        match self.0.get(start..start + dest.len()) {
            Some(bytes) => dest.copy_from_slice(bytes),
            None => return Err(err!(ReadBuffer, "the frame ends")),
        }
        Ok(())
    }
}

fn make_data(len: usize) -> Vec<u8> {
    (0..len as u32 / 4).flat_map(|i| (i * i / 7 % 1000).to_le_bytes()).collect()
}

fn lz4_cparams() -> CompressParams {
    CompressParams { compcode: BLOSC_LZ4, typesize: 4, blocksize: 4000, ..CompressParams::default() }
}

fn compress_chunk(params: &CompressParams, source: ContentSource<'_>) -> Vec<u8> {
    let mut chunk = vec![0; source.len() + 4096 + 40_000];
    let header = compress(params, source, &mut chunk).unwrap();
    assert!(header.cbytes > 0);
    chunk.truncate(header.cbytes as usize);
    chunk
}

/// Returns the lazy form of `chunk`, and the frame that holds the chunk.
fn make_lazy_chunk(chunk: &[u8]) -> (Vec<u8>, SimulatedFrame) {
    let header = ChunkHeader::parse(chunk).unwrap();
    let blocks = crate::chunk::BlockGeometry::of(&header);
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
    (lazy, SimulatedFrame(frame))
}

/// Decompresses the serialised lazy chunk, whose blocks are in `frame`, on `nthreads` threads.
fn decompress(
    frame: Option<&SimulatedFrame>,
    nthreads: usize,
    chunk: &[u8],
    dest: &mut [u8],
) -> Result<DecompressOutcome> {
    let params = DecompressParams { nthreads, ..DecompressParams::default() };
    let source = frame.map(|frame| frame as &dyn BlockSource);
    let mut header = ChunkHeader::default();
    super::decompress(&params, &ParsedChunk::parse(&mut header, chunk)?.with_source(source), dest.into())
}

fn getitem(
    frame: &SimulatedFrame,
    chunk: &[u8],
    wanted: ItemRange,
    dest: &mut [u8],
) -> Result<DecompressOutcome> {
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, chunk)?.with_source(Some(frame));
    super::getitem(&DecompressParams::default(), &chunk, wanted, dest.into())
}

#[test]
fn lazy_chunks_of_every_kind_are_read() {
    let data = make_data(100_000);
    let delta = CompressParams { filters: [0, 0, 0, 1, 3, 2], ..lz4_cparams() };
    let kinds = [
        lz4_cparams(),
        CompressParams { clevel: 0, ..lz4_cparams() },
        CompressParams { filters: [0; 6], ..lz4_cparams() },
        CompressParams { use_dict: true, ..lz4_cparams() },
        CompressParams { use_dict: true, compcode: BLOSC_ZSTD, ..lz4_cparams() },
        delta,
    ];
    for params in kinds {
        let (lazy, frame) = make_lazy_chunk(&compress_chunk(&params, ContentSource::Buffer(&data)));
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
    let data = make_data(6000);
    let sources: Vec<&[u8]> = vec![&data[..100], &data[100..5000], &data[5000..5004], &data[5004..]];
    let (lazy, frame) =
        make_lazy_chunk(&compress_chunk(&lz4_cparams(), ContentSource::VarlenBlocks(&sources)));
    let mut dest = vec![0; data.len()];
    decompress(Some(&frame), 1, &lazy, &mut dest).unwrap();
    assert!(dest == data);
    let mut header = ChunkHeader::default();
    let chunk = ParsedChunk::parse(&mut header, &lazy).unwrap().with_source(Some(&frame));
    VarlenReader::open(&DecompressParams::default(), &chunk, |reader| {
        for (nblock, source) in sources.iter().enumerate() {
            let mut dest = vec![0; reader.block_nbytes(nblock)];
            reader.decode_block(nblock, dest[..].as_mut().into())?;
            assert!(dest == *source);
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn damaged_lazy_chunks_give_the_expected_error_kinds() {
    let data = make_data(20_000);
    let (lazy, frame) = make_lazy_chunk(&compress_chunk(&lz4_cparams(), ContentSource::Buffer(&data)));
    let code = |lazy: &[u8], frame: Option<&SimulatedFrame>| {
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
