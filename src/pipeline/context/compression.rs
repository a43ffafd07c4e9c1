//! Compression with a context: the tuner chooses, the parameters are read from the head, and the result is written
//! there.

use super::super::callbacks::Prefilter;
use super::super::compress::{self, ContentSource, plan};
use super::super::container;
use super::super::params::{CallbackPointers, ChunkFormat, CompressParams};
use super::super::tuner;
use super::{Context, effective_thread_count, update_thread_fields};
use crate::abi::{blosc2_prefilter_params, blosc2_schunk};
use crate::chunk::{ChunkHeader, Container, SpecialValue};
use crate::error::{ErrorKind, Result, err};
use crate::out_buffer::OutBuffer;
use std::time::Instant;

/// A compression of one chunk that was started with a context, and the parameters that were chosen for it.
pub(crate) struct ChunkJob {
    params: CompressParams,
    /// Start of the compression; `None` without a tuner of the program.
    start_time: Option<Instant>,
}

impl ChunkJob {
    /// Sets the properties of the super-chunk that codecs and filters need to the result of `container_of`, if any
    /// needs them.
    pub(crate) fn set_container(
        &mut self,
        container_of: impl FnOnce(*const blosc2_schunk) -> Option<Container>,
    ) {
        if container::is_needed(self.params.compcode, &self.params.filters) {
            self.params.container = container_of(self.params.callback_pointers.schunk.cast());
        }
    }

    /// Compresses the source that was passed to [`Context::start_chunk`] into the same destination.
    pub(crate) fn compress(&self, source: ContentSource<'_>, dest: OutBuffer<'_>) -> Result<ChunkHeader> {
        // SAFETY: the encoder writes each byte of a chunk before it reads it.
        let dest = unsafe { dest.into_bytes() };
        compress::compress(&self.params, source, dest)
    }
}

impl Context {
    /// Compresses `source` into `dest`. Returns the length of the chunk in bytes, or 0 if it does not fit.
    ///
    /// # Errors
    /// `InvalidParam` for a decompression context, and those of `chunk.md` 3.
    pub(crate) fn compress(&self, source: ContentSource<'_>, dest: OutBuffer<'_>) -> Result<usize> {
        let nchunk = self.current_nchunk();
        // SAFETY: the callers of `ContextHeadCell::new` and `ContextHeadCell::set_schunk` guarantee a super-chunk that
        // does not change during the call.
        self.compress_chunk(source, dest, nchunk, |schunk| unsafe { container::of_schunk(schunk) })
    }

    /// Does the same as [`compress`](Self::compress), with `nchunk` as the index of the chunk for prefilters, and the
    /// result of `container_of` as the properties of the super-chunk, if a codec or filter needs them.
    pub(crate) fn compress_chunk(
        &self,
        source: ContentSource<'_>,
        mut dest: OutBuffer<'_>,
        nchunk: i64,
        container_of: impl FnOnce(*const blosc2_schunk) -> Option<Container>,
    ) -> Result<usize> {
        let mut job = self.start_chunk(source, &mut dest, nchunk)?;
        job.set_container(container_of);
        let header = job.compress(source, dest)?;
        self.finish_chunk(&job, &header, source)
    }

    /// Starts the compression of chunk `nchunk`: calls the tuner and reads the parameters. [`ChunkJob::compress`] does
    /// not use the context, so that another thread may use it at the same time.
    pub(crate) fn start_chunk(
        &self,
        source: ContentSource<'_>,
        dest: &mut OutBuffer<'_>,
        nchunk: i64,
    ) -> Result<ChunkJob> {
        let nbytes = self.publish_buffers(source, dest)?;
        // Only tuners of the program receive the duration.
        let started = tuner::is_registered(self.head.tuner_id()).then(Instant::now);
        // Variable-length blocks: tuners read the size of the largest one as the block size, and cannot change it.
        let largest = match source {
            ContentSource::VarlenBlocks(sources) => {
                Some(i32::try_from(compress::check_varlen(sources)?).unwrap_or(i32::MAX))
            }
            ContentSource::Buffer(_) | ContentSource::SizeOnly(_) | ContentSource::Provided(_) => None,
        };
        if let ContentSource::Buffer(content) = source {
            self.tune_automatically(content);
        }
        let set_largest = || largest.into_iter().for_each(|largest| self.head.set_blocksize(largest));
        set_largest();
        let requested = self.head.blocksize();
        tuner::choose_params(self, nbytes)?;
        set_largest();
        if nbytes == 0 && requested > 0 {
            // There is no data to divide: the header stores the requested block size.
            self.head.set_blocksize(requested);
        }
        let mut params = self.compress_params(nchunk);
        let missing_dictionary = match source {
            ContentSource::Buffer(_) | ContentSource::Provided(_) => Some(ErrorKind::CodecParam),
            // The reference rejects these data when it trains the dictionary, which level 0 does without.
            ContentSource::SizeOnly(_) => Some(ErrorKind::CodecDict).filter(|_| params.clevel != 0),
            ContentSource::VarlenBlocks(_) => None,
        };
        plan::check_params(&params, source.len(), dest.len(), missing_dictionary)?;
        if params.clevel == 0 {
            params.use_dict = false;
        }
        // The block size that results from a source shorter than an item is not kept for the next chunk (`chunk.md`
        // 5.3).
        let is_short = source.len() < usize::try_from(params.typesize).unwrap_or(usize::MAX);
        if is_short && !matches!(source, ContentSource::VarlenBlocks(_)) {
            self.head.set_blocksize(requested);
        }
        Ok(ChunkJob { params, start_time: started })
    }

    /// Ends the compression of a chunk with that header. Returns the length of the chunk in bytes, or 0 if it did not
    /// fit.
    pub(crate) fn finish_chunk(
        &self,
        job: &ChunkJob,
        header: &ChunkHeader,
        source: ContentSource<'_>,
    ) -> Result<usize> {
        self.publish_compression(&job.params, header, source);
        if let Some(started) = job.start_time {
            tuner::call_update(self, started.elapsed().as_secs_f64())?;
        }
        Ok(usize::try_from(header.cbytes).unwrap_or(0))
    }

    /// Writes a special chunk of `nbytes` bytes. Returns its length in bytes.
    ///
    /// # Errors
    /// Those of `chunk.md` 3.12 from the third step on.
    pub(crate) fn compress_special_chunk(
        &self,
        kind: SpecialValue,
        nbytes: usize,
        value: &[u8],
        mut dest: OutBuffer<'_>,
    ) -> Result<usize> {
        let source = ContentSource::SizeOnly(nbytes);
        let nbytes_for_tuner = self.publish_buffers(source, &mut dest)?;
        tuner::choose_params(self, nbytes_for_tuner)?;
        let params = self.compress_params(self.current_nchunk());
        plan::check_params(&params, nbytes, dest.len(), None)?;
        // SAFETY: the chunk is written and not read.
        let dest = unsafe { dest.into_bytes() };
        compress::encode_special_chunk(&params, kind, nbytes, value, dest)
    }

    /// Writes source and destination into the head, for tuners. Returns the size of the source in bytes.
    fn publish_buffers(&self, source: ContentSource<'_>, dest: &mut OutBuffer<'_>) -> Result<i32> {
        let nbytes = i32::try_from(source.len()).unwrap_or(i32::MAX);
        let head = &self.head;
        if head.do_compress() == 0 {
            return Err(err!(InvalidParam, "the context is for decompression, expected one for compression"));
        }
        if head.blocksize() < 0 {
            return Err(err!(InvalidParam, "`blocksize` is {}, expected 0 or more", head.blocksize()));
        }
        head.set_src(source.callback_address());
        head.set_dest(dest.as_mut_ptr());
        head.set_srcsize(nbytes);
        head.set_sourcesize(nbytes);
        head.set_destsize(i32::try_from(dest.len()).unwrap_or(i32::MAX));
        update_thread_fields(head);
        Ok(nbytes)
    }

    fn compress_params(&self, nchunk: i64) -> CompressParams {
        let head = &self.head;
        CompressParams {
            compcode: head.compcode(),
            compcode_meta: head.compcode_meta(),
            clevel: head.clevel(),
            use_dict: head.use_dict() != 0,
            instr_codec: self.is_instrumented,
            keeps_longer: false,
            typesize: head.typesize(),
            nthreads: effective_thread_count(head.new_nthreads()),
            blocksize: head.blocksize(),
            splitmode: head.splitmode(),
            filters: head.filters(),
            filters_meta: head.filters_meta(),
            format: ChunkFormat::Blosc2,
            prefilter: self.prefilter(),
            tuner_id: head.tuner_id(),
            nchunk,
            callback_pointers: CallbackPointers {
                schunk: head.schunk().cast(),
                tuner_params: head.tuner_params(),
                codec_params: head.codec_params(),
                filter_params: head.filter_params(),
            },
            container: None,
        }
    }

    fn prefilter(&self) -> Option<Prefilter> {
        let own = self.preparams.as_ref()?;
        let params = blosc2_prefilter_params { ctx: self.as_ptr(), ..own.get() };
        let function = self.head.prefilter()?;
        // SAFETY: guaranteed by the callers of `for_compression` and of `ContextHeadCell::set_prefilter`; the
        // parameters are those that came with the function.
        Some(unsafe { Prefilter::new(function, params, own.as_ptr()) })
    }

    /// Writes the result of a compression into the head. Block size, capped item size and a disabled dictionary are
    /// kept for the next compression (`chunk.md` 5.3).
    fn publish_compression(&self, params: &CompressParams, header: &ChunkHeader, source: ContentSource<'_>) {
        let head = &self.head;
        head.set_typesize(plan::stored_typesize(params.typesize));
        head.set_use_dict(i32::from(params.use_dict));
        head.set_header_flags(header.flags);
        head.set_blosc2_flags(header.blosc2_flags);
        head.set_blosc2_flags2(header.blosc2_flags2);
        head.set_header_blocksize(header.blocksize);
        head.set_header_overhead(header.len() as i32);
        let blocks = crate::chunk::BlockGeometry::new(source.len(), params.blocksize.max(1) as usize);
        head.set_nblocks(source.nblocks(&blocks) as i32);
        head.set_leftover(blocks.leftover() as i32);
        head.set_output_bytes(header.cbytes);
        head.set_destsize(header.cbytes);
    }
}
