//! A chunk opened for reading: checked as a whole once (`chunk.md` 2.2), then decoded block by block (4.2).

use super::super::callbacks::BlockPlace;
use super::super::filters::Chain;
use super::super::params::DecompressParams;
use super::super::scratch::{Buffers, Scratch};
use super::codec::ChunkDecoder;
use super::runs::{self, Runs};
use super::streams::{decode_payload, decode_shuffled, decode_split, each_stream, neblock};
use super::{BlockSource, lazy};
use crate::chunk::format::version;
use crate::chunk::lazy::Trailer;
use crate::chunk::stream::{self, Stream};
use crate::chunk::varlen::{self, VarBlock};
use crate::chunk::{Blocks, ChunkHeader, Special, dictionary, read_i32};
use crate::codec::{BuiltIn, DecoderDictionary, WRITE_AHEAD, Workspace};
use crate::err;
use crate::error::Result;
use crate::filter::copy::copy;
use std::ops::Range;

/// What the body of a chunk is.
enum Body<'a> {
    /// Nothing: the header tells all.
    Special(Special),
    /// The data as they are.
    Plain,
    /// Equal blocks of streams, the first of which begins here or later.
    Coded { first: usize },
    /// Blocks of variable length.
    Varlen(Vec<VarBlock>),
    /// The data as they are, in a frame.
    LazyPlain(Trailer<'a>),
    /// Equal blocks of streams, in a frame.
    LazyCoded(Trailer<'a>),
    /// Blocks of variable length, in a frame.
    LazyVarlen(Trailer<'a>, Vec<VarBlock>),
}

/// A chunk that has passed the checks, ready to give its blocks.
pub(crate) struct ChunkReader<'a> {
    header: &'a ChunkHeader,
    chunk: &'a [u8],
    params: &'a DecompressParams<'a>,
    body: Body<'a>,
    blocks: Blocks,
    chain: &'a Chain<'a>,
    /// Blocks are single streams, and what these decode to is what the caller gets.
    is_verbatim: bool,
    dictionary: Option<DecoderDictionary>,
    nblocks: usize,
    largest: usize,
}

impl<'a> ChunkReader<'a> {
    /// Opens `chunk`, whose parsed header is `header`, and hands the reader to `then`. (A reader that is handed out
    /// would be copied on the way, which small chunks notice.)
    ///
    /// # Errors
    /// Those of `chunk.md` 2.2 from step 2 on, or what `then` returns.
    #[inline]
    pub(crate) fn open<R>(
        header: &ChunkHeader,
        chunk: &[u8],
        params: &DecompressParams<'_>,
        then: impl FnOnce(&ChunkReader<'_>) -> Result<R>,
    ) -> Result<R> {
        let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
        if !header.is_lazy() && cbytes > chunk.len() {
            return Err(err!(InvalidHeader, "a chunk of {cbytes} bytes, {} are there", chunk.len()));
        }
        let varlen = header.has_varlen_blocks();
        let blocks = Blocks::of(header);
        let nblocks = if varlen { varlen::nblocks(header) } else { blocks.count() };
        if let Some(mask) = params.mask.filter(|mask| mask.len() != nblocks) {
            return Err(err!(Data, "a mask of {} blocks for {nblocks}", mask.len()));
        }
        let special = header.special()?;
        if header.is_memcpyed() && header.len() + header.nbytes() != cbytes {
            return Err(err!(Data, "{} bytes stored plain in a chunk of {cbytes}", header.nbytes));
        }
        let tables = header.len() + 4 * nblocks;
        let has_starts = special.is_none() && (!header.is_memcpyed() || header.is_lazy());
        if has_starts && i32::try_from(tables).is_err() {
            return Err(err!(InvalidHeader, "{nblocks} blocks are too many"));
        }
        if has_starts && chunk.len() < tables && header.nbytes > 0 {
            return Err(err!(ReadBuffer, "{nblocks} block starts in a chunk of {} bytes", chunk.len()));
        }

        let mut dictionary = None;
        let mut largest = blocks.blocksize().min(blocks.nbytes());
        let body = match special {
            Some(kind) => Body::Special(kind),
            None if header.is_lazy() => open_lazy(header, chunk, params, nblocks, &mut dictionary)?,
            None if header.is_memcpyed() => Body::Plain,
            None => {
                let first = open_dictionary(header, chunk, nblocks, &mut dictionary)?;
                if varlen { Body::Varlen(varlen::table(header, chunk)?) } else { Body::Coded { first } }
            }
        };
        if let Body::Varlen(table) | Body::LazyVarlen(_, table) = &body {
            largest = table.iter().map(|b| b.nbytes).max().unwrap_or(0);
        }
        let typesize = usize::from(header.typesize);
        let chain = match body {
            // No filter has seen them.
            Body::Special(_) | Body::Plain | Body::LazyPlain(_) => &Chain::NONE,
            _ => &Chain::new(&header.filters, &header.filters_meta, typesize, params.container),
        };
        let is_verbatim = !header.is_split()
            && !header.is_instrumented()
            && params.postfilter.is_none()
            && chain.undoes_nothing();
        then(&ChunkReader {
            header,
            chunk,
            params,
            body,
            blocks,
            chain,
            is_verbatim,
            dictionary,
            nblocks,
            largest,
        })
    }

    fn source(&self) -> Result<&'a dyn BlockSource> {
        source_of(self.params)
    }

    /// The header of the chunk.
    pub(crate) fn header(&self) -> &ChunkHeader {
        self.header
    }

    /// Number of blocks.
    pub(crate) fn nblocks(&self) -> usize {
        self.nblocks
    }

    /// Size of the largest block, in bytes.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// The geometry of equal blocks.
    pub(crate) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Whether a dictionary came with the chunk.
    pub(crate) fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Where block `nblock` lies in the chunk's content, in bytes.
    pub(crate) fn range(&self, nblock: usize) -> Range<usize> {
        match &self.body {
            Body::Varlen(table) | Body::LazyVarlen(_, table) => {
                let block = &table[nblock];
                block.offset..block.offset + block.nbytes
            }
            _ => self.blocks.range(nblock),
        }
    }

    /// Whether blocks behind the first one need it: delta, on equal blocks that are coded (`filters.md` 6).
    pub(crate) fn needs_first_block(&self) -> bool {
        matches!(self.body, Body::Coded { .. } | Body::LazyCoded(_))
            && self.nblocks > 0
            && self.chain.has_delta()
            && !self.header.is_instrumented()
    }

    /// The content of a chunk that is but a copy or a fill, if nobody has to see its blocks one by one.
    pub(crate) fn as_simple(&self) -> Option<Simple<'_>> {
        if self.params.postfilter.is_some() {
            return None;
        }
        let body = &self.chunk[self.header.len().min(self.chunk.len())..];
        let typesize = usize::from(self.header.typesize);
        match self.body {
            Body::Special(kind) => Some(Simple::Special { kind, typesize, value: self.value() }),
            Body::Plain => Some(Simple::Plain(body)),
            _ => None,
        }
    }

    /// The value of a repeated-value chunk; empty in others.
    fn value(&self) -> &'a [u8] {
        let cbytes = usize::try_from(self.header.cbytes).unwrap_or(0);
        self.chunk.get(self.header.len()..cbytes).unwrap_or_default()
    }

    /// Length that each of a worker's buffers needs, in bytes.
    pub(crate) fn buffer_len(&self) -> usize {
        // What a lazy block may take in the frame; room for decoders to write ahead.
        self.largest + (4 * usize::from(self.header.typesize)).max(WRITE_AHEAD)
    }

    /// Lends a worker's buffers, long enough for this chunk.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    #[inline(always)]
    pub(crate) fn buffers<'s>(&self, scratch: &'s mut Scratch) -> Result<(Buffers<'s>, &'s mut Workspace)> {
        scratch.parts(self.buffer_len())
    }

    /// Decodes block `nblock` into `dest`, which has its length, and runs the postfilter. `reference` is the first
    /// block, decoded, where [`needs_first_block`](Self::needs_first_block) says so.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    pub(crate) fn decode(
        &self,
        nblock: usize,
        tid: usize,
        buffers: &mut Buffers<'_>,
        workspace: &mut Workspace,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let Some(postfilter) = self.params.postfilter.filter(|_| !self.header.is_instrumented()) else {
            return self.decode_unfiltered(nblock, buffers, workspace, dest, reference);
        };
        let len = dest.len();
        let ttmp = buffers.front.as_mut_ptr();
        let typesize = match self.body {
            Body::Special(Special::Value) => self.value().len(),
            _ => usize::from(self.header.typesize),
        };
        let place = BlockPlace {
            nchunk: self.params.nchunk,
            nblock,
            offset: nblock
                * if self.header.has_varlen_blocks() { self.largest } else { self.blocks.blocksize() },
            tid,
            ttmp,
            // As large as the reference's, whatever else ours have room for.
            ttmp_nbytes: 4 * (self.largest + 4 * usize::from(self.header.typesize)),
        };
        let simple = matches!(self.body, Body::Special(_) | Body::Plain | Body::LazyPlain(_));
        if simple {
            // There the callback finds its input at the start of the scratch.
            let input = &mut buffers.front[..len];
            self.fill(nblock, input)?;
            return postfilter.run(input, dest, typesize, place);
        }
        let input = std::mem::take(&mut buffers.block);
        let result = self
            .decode_unfiltered(nblock, buffers, workspace, &mut input[..len], reference)
            .and_then(|()| postfilter.run(&input[..len], dest, typesize, place));
        buffers.block = input;
        result
    }

    /// Writes block `nblock` into `dest`, which has its length, if that is stored as it is, or is a run, and nobody has to
    /// see or to undo anything. `false` in any other case, also if it makes no sense: `dest` is untouched then.
    #[inline]
    pub(crate) fn copy_uncoded(&self, nblock: usize, dest: &mut [u8]) -> bool {
        let Body::Coded { first } = self.body else { return false };
        if !self.is_verbatim {
            return false;
        }
        let Ok(mut bytes) = self.block_bytes(nblock, first) else { return false };
        match stream::read(&mut bytes, dest.len()) {
            Ok(Stream::Raw(raw)) => copy(raw, dest),
            Ok(Stream::Run(value)) => dest.fill(value),
            _ => return false,
        }
        true
    }

    /// As [`decode`](Self::decode), without the postfilter.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    pub(crate) fn decode_unfiltered(
        &self,
        nblock: usize,
        buffers: &mut Buffers<'_>,
        workspace: &mut Workspace,
        dest: &mut [u8],
        reference: Option<&[u8]>,
    ) -> Result<()> {
        let Buffers { front, back, stream, .. } = buffers;
        match &self.body {
            Body::Special(_) | Body::Plain | Body::LazyPlain(_) => return self.fill(nblock, dest),
            Body::Coded { .. } | Body::Varlen(_) | Body::LazyCoded(_) | Body::LazyVarlen(..) => {}
        }
        if let Some((typesize, bytes)) = self.shuffled_streams(nblock) {
            let nstreams = self.nstreams(nblock);
            return decode_shuffled(|| self.decoder(), (nstreams, typesize), bytes, workspace, front, dest);
        }
        let in_place = self.header.is_instrumented() || self.chain.works_in_place();
        let len = dest.len();
        let coded = if in_place { &mut *dest } else { &mut front[..] };
        self.decode_streams(nblock, stream, workspace, coded, len)?;
        if self.header.is_instrumented() {
            return Ok(());
        }
        if in_place {
            return self.chain.backward_in_place(dest, reference);
        }
        let dparams = self.params.for_callbacks(i32::from(self.header.typesize));
        self.chain.backward(front, back, dest, reference, &dparams, self.header.version)
    }

    /// Decodes the streams of block `nblock` and puts together the bytes `runs` of it in `dest`, which has its length; the
    /// rest of `dest` means nothing then. `false` if more has to be undone than a shuffle, or if it takes less to undo all
    /// of it; `dest` is untouched then.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    pub(crate) fn decode_runs(
        &self,
        nblock: usize,
        runs: &dyn Runs,
        buffers: &mut Buffers<'_>,
        workspace: &mut Workspace,
        dest: &mut [u8],
    ) -> Result<bool> {
        let len = dest.len();
        let Some((unit, bytes)) = self.shuffled_streams(nblock) else { return Ok(false) };
        let is_plain = unit <= runs::MOST_PLANES && len.is_multiple_of(unit) && len > 0;
        if !is_plain || self.params.postfilter.is_some() || !runs::pays(runs, unit, len) {
            return Ok(false);
        }
        let nstreams = self.nstreams(nblock);
        let mut raws = [None; runs::MOST_PLANES];
        let neblock = neblock(len, nstreams);
        let raw = |nstream: usize, raw: &'a [u8], dest: &mut [u8]| {
            if nstreams == unit {
                raws[nstream] = Some(&raw[..neblock]);
            } else {
                copy(&raw[..neblock], &mut dest[..neblock]);
            }
        };
        each_stream(|| self.decoder(), nstreams, bytes, workspace, buffers.front, len, raw)?;
        let mut planes = [&[][..]; runs::MOST_PLANES];
        for (nstream, decoded) in buffers.front[..len].chunks_exact(len / unit).enumerate() {
            planes[nstream] = raws[nstream].unwrap_or(decoded);
        }
        runs::put_together(&planes[..unit], runs, dest);
        Ok(true)
    }

    /// The bytes from the first stream of a block on, if it is one of equal blocks in memory that only have to be
    /// unshuffled; and how many bytes shuffling has moved apart. `None` in any other case, damage included.
    #[inline]
    fn shuffled_streams(&self, nblock: usize) -> Option<(usize, &'a [u8])> {
        let Body::Coded { first } = self.body else { return None };
        let unit = self.chain.shuffled_unit().filter(|&unit| unit > 1)?;
        if self.header.is_instrumented() || self.may_predate_the_split_mark() {
            return None;
        }
        self.block_bytes(nblock, first).ok().map(|bytes| (unit, bytes))
    }

    /// Decodes the bytes `part` of block `nblock` into `dest`, which is as long, where the codec can do so without the
    /// rest of the block and nobody else has to see that. `false` if not; `dest` is untouched then.
    ///
    /// # Errors
    /// Those of `chunk.md` 2.3.
    pub(crate) fn decode_part(
        &self,
        nblock: usize,
        part: Range<usize>,
        buffers: &mut Buffers<'_>,
        dest: &mut [u8],
    ) -> Result<bool> {
        let decoder = self.decoder();
        let Some(decoder) = decoder.of_parts() else { return Ok(false) };
        let is_as_coded = self.chain.undoes_nothing() && !self.header.is_instrumented();
        if !is_as_coded || self.params.postfilter.is_some() || self.nstreams(nblock) != 1 {
            return Ok(false);
        }
        let mut bytes = match &self.body {
            Body::Coded { first } => self.block_bytes(nblock, *first)?,
            Body::LazyCoded(trailer) => self.lazy_block_bytes(trailer, nblock, buffers.stream)?,
            _ => return Ok(false),
        };
        let nbytes = self.range(nblock).len();
        match stream::read(&mut bytes, nbytes)? {
            Stream::Coded(coded) => decoder.decode_part(coded, nbytes, part, dest),
            Stream::Run(_) | Stream::Raw(_) => Ok(false),
        }
    }

    /// Fills `dest` with a block that no codec has seen.
    fn fill(&self, nblock: usize, dest: &mut [u8]) -> Result<()> {
        let range = self.blocks.range(nblock);
        match &self.body {
            Body::Special(kind) => {
                kind.fill(dest, range.start, usize::from(self.header.typesize), self.value())
            }
            Body::LazyPlain(trailer) => {
                let position = (self.header.len() + range.start) as u64;
                self.source()?.read(trailer, position, dest)
            }
            _ => {
                let body = self.header.len() + range.start..self.header.len() + range.end;
                let Some(bytes) = self.chunk.get(body) else {
                    return Err(err!(ReadBuffer, "block {nblock} lies beyond {} bytes", self.chunk.len()));
                };
                copy(bytes, dest);
                Ok(())
            }
        }
    }

    /// Decodes the streams of a block of `len` bytes, filters not yet undone, into the start of `dest`; the rest of
    /// `dest` is garbage afterwards. `lazy` is a buffer for a block from a frame.
    fn decode_streams(
        &self,
        nblock: usize,
        lazy: &mut [u8],
        workspace: &mut Workspace,
        dest: &mut [u8],
        len: usize,
    ) -> Result<()> {
        match &self.body {
            Body::Coded { first } => {
                let bytes = self.block_bytes(nblock, *first)?;
                let decoded =
                    decode_split(|| self.decoder(), self.nstreams(nblock), bytes, workspace, dest, len);
                if decoded.is_err() && self.may_predate_the_split_mark() {
                    return decode_split(|| self.decoder(), 1, bytes, workspace, dest, len).or(decoded);
                }
                decoded
            }
            Body::LazyCoded(trailer) => {
                let bytes = self.lazy_block_bytes(trailer, nblock, lazy)?;
                decode_split(|| self.decoder(), self.nstreams(nblock), bytes, workspace, dest, len)
            }
            Body::Varlen(table) => {
                let payload = table[nblock].payload(self.chunk);
                decode_payload(&self.decoder(), payload, workspace, &mut dest[..len])
            }
            Body::LazyVarlen(trailer, table) => {
                let payload = lazy::read_payload(trailer, self.source()?, table, nblock)?;
                decode_payload(&self.decoder(), &payload, workspace, &mut dest[..len])
            }
            Body::Special(_) | Body::Plain | Body::LazyPlain(_) => self.fill(nblock, &mut dest[..len]),
        }
    }

    fn decoder(&self) -> ChunkDecoder<'_> {
        ChunkDecoder::new(self.header, self.params, self.dictionary.as_ref(), self.chunk)
    }

    /// The bytes from the first stream of a block on; no block begins before `first`.
    #[inline(always)]
    fn block_bytes(&self, nblock: usize, first: usize) -> Result<&'a [u8]> {
        let start = self.block_start(nblock)?;
        if start < first || start >= self.chunk.len() {
            return Err(err!(Data, "block {nblock} begins at {start} of {} bytes", self.chunk.len()));
        }
        Ok(&self.chunk[start..])
    }

    /// As [`block_bytes`](Self::block_bytes), of a lazy chunk: the block is read into `buffer`.
    fn lazy_block_bytes<'b>(
        &self,
        trailer: &Trailer<'_>,
        nblock: usize,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8]> {
        let start = self.block_start(nblock)?;
        let limit = self.blocks.blocksize() + 4 * usize::from(self.header.typesize);
        lazy::read_block(trailer, self.source()?, nblock, start, limit, buffer)
    }

    /// How block `nblock` is stored, if that is no more than streams of a codec of the format, shuffled or not: the number
    /// of bytes whose places shuffling has changed (1 without), the streams, and how many they are.
    pub(crate) fn plain_streams(&self, nblock: usize) -> Option<(usize, &'a [u8], usize)> {
        let is_plain = self.params.postfilter.is_none()
            && self.dictionary.is_none()
            && !self.header.is_instrumented()
            && !self.may_predate_the_split_mark();
        let unit = self.chain.shuffled_unit().filter(|_| is_plain)?;
        let nstreams = self.nstreams(nblock);
        let is_divided = nstreams > 0 && self.range(nblock).len().is_multiple_of(nstreams);
        self.encoded(nblock).filter(|_| is_divided).map(|encoded| (unit, encoded, nstreams))
    }

    /// The streams of one of the equal coded blocks, as they are; `None` where they make no sense, or where the chunk is
    /// of another kind or not in memory.
    pub(crate) fn encoded(&self, nblock: usize) -> Option<&'a [u8]> {
        let Body::Coded { first } = self.body else { return None };
        let start = self.block_start(nblock).ok().filter(|&start| start >= first)?;
        let bytes = self.chunk.get(start..)?;
        let nstreams = self.nstreams(nblock);
        let len = self.range(nblock).len();
        let neblock = len.checked_div(nstreams).filter(|neblock| neblock * nstreams == len && len > 0)?;
        let mut rest = bytes;
        for _ in 0..nstreams {
            stream::read(&mut rest, neblock).ok()?;
        }
        bytes.get(..bytes.len() - rest.len())
    }

    /// Where the first stream of block `nblock` begins in the chunk, in bytes.
    #[inline(always)]
    fn block_start(&self, nblock: usize) -> Result<usize> {
        let start = read_i32(self.chunk, self.header.len() + 4 * nblock);
        match start.map(usize::try_from) {
            Some(Ok(start)) if start > 0 => Ok(start),
            _ => Err(err!(Data, "block {nblock} begins at {start:?}")),
        }
    }

    fn nstreams(&self, nblock: usize) -> usize {
        self.blocks.nstreams(nblock, self.header.is_split(), usize::from(self.header.typesize))
    }

    /// Whether the chunk may come from a Blosc 1 that did not mark yet whether blocks are split, so that a block
    /// which makes no sense as several streams may be one. The reference cannot read those (`chunk.md` 1.15).
    fn may_predate_the_split_mark(&self) -> bool {
        !self.header.is_extended() && self.header.version <= version::BLOSC1 && self.header.is_split()
    }
}

/// Where the blocks of a lazy chunk come from.
fn source_of<'a>(params: &DecompressParams<'a>) -> Result<&'a dyn BlockSource> {
    params.source.ok_or_else(|| err!(InvalidParam, "a lazy chunk, and no frame to read it from"))
}

/// Digests the dictionary, if there is one; where the blocks may begin.
fn open_dictionary(
    header: &ChunkHeader,
    chunk: &[u8],
    nblocks: usize,
    digested: &mut Option<DecoderDictionary>,
) -> Result<usize> {
    let tables = header.len() + 4 * nblocks;
    if !header.has_dictionary() || nblocks == 0 {
        return Ok(tables);
    }
    let bytes = dictionary::read(chunk, tables)?;
    *digested = digest(header, bytes)?;
    Ok(tables + dictionary::PREFIX + bytes.len())
}

/// Makes a dictionary ready for the chunk's codec; codecs that are not of the format have none.
fn digest(header: &ChunkHeader, bytes: &[u8]) -> Result<Option<DecoderDictionary>> {
    BuiltIn::from_format(header.codec_format()).map(|codec| DecoderDictionary::new(codec, bytes)).transpose()
}

fn open_lazy<'a>(
    header: &ChunkHeader,
    chunk: &'a [u8],
    params: &DecompressParams<'_>,
    nblocks: usize,
    digested: &mut Option<DecoderDictionary>,
) -> Result<Body<'a>> {
    let source = source_of(params)?;
    let trailer = Trailer::read(header, chunk, nblocks)?;
    if header.has_dictionary() {
        let bytes = lazy::read_dictionary(header, &trailer, source, header.len() + 4 * nblocks)?;
        *digested = digest(header, &bytes)?;
    }
    if header.has_varlen_blocks() {
        let table = lazy::varlen_table(header, chunk, &trailer, source)?;
        return Ok(Body::LazyVarlen(trailer, table));
    }
    Ok(if header.is_memcpyed() { Body::LazyPlain(trailer) } else { Body::LazyCoded(trailer) })
}

/// The content of a chunk that is but a copy or a fill.
pub(crate) enum Simple<'a> {
    /// The data as they are; there may be more bytes than data.
    Plain(&'a [u8]),
    /// What a fill needs to know.
    Special {
        /// The kind.
        kind: Special,
        /// Item size, in bytes.
        typesize: usize,
        /// The repeated value, if it is one.
        value: &'a [u8],
    },
}
