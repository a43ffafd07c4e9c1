//! Metalayers: named contents. Fixed ones are in the header of a frame, those of variable length, compressed, in its
//! trailer (`schunk.md` 17 and 18).

use super::SuperChunk;
use super::access_lock::LockProof;
use super::c_struct::metalayer_kind::MetalayerKind;
use crate::abi::{BLOSC2_CPARAMS_DEFAULTS, blosc2_cparams};
use crate::chunk::format::{EXTENDED_HEADER_LENGTH, LONGER_CONTENT};
use crate::chunk::{ChunkHeader, ParsedChunk};
use crate::error::{ErrorKind, Result, ensure, err, to_kind};
use crate::fallible;
use crate::frame::format::change::Change;
use crate::frame::format::metalayers::{MAX_METALAYERS, MAX_NAME_LEN};
use crate::frame::store::DiskFrame;
use crate::malloc::MallocBytes;
use crate::out_buffer::OutBuffer;
use crate::pipeline::compress::ContentSource;
use crate::pipeline::context::{Context, decoding_runs_callbacks};
use crate::pipeline::decompress;
use crate::pipeline::params::DecompressParams;
use std::ffi::{CStr, c_char};

fn check_name(name: &CStr) -> Result<()> {
    let len = name.to_bytes().len();
    ensure!(len <= MAX_NAME_LEN, InvalidParam, "`name` has {len} bytes, expected at most {MAX_NAME_LEN}");
    Ok(())
}

impl LockProof<'_, SuperChunk> {
    fn metalayer_position(self, kind: MetalayerKind, name: &CStr) -> Result<usize> {
        check_name(name)?;
        let found = self.find_metalayer(kind, name);
        found.map(|(at, _)| at).ok_or_else(|| err!(NotFound, "no metalayer {name:?}"))
    }

    fn check_new_metalayer(self, kind: MetalayerKind, name: &CStr) -> Result<()> {
        check_name(name)?;
        ensure!(self.find_metalayer(kind, name).is_none(), InvalidParam, "metalayer {name:?} exists already");
        let count = self.metalayer_count(kind);
        if count >= kind.max_count() {
            return Err(err!(InvalidParam, "the list has {count} metalayers already, which is the limit"));
        }
        Ok(())
    }

    /// Returns the position of the fixed metalayer with that name, and whether its content is at least as long as
    /// `content`.
    fn position_for_update(self, name: &CStr, content: &[u8]) -> Result<(usize, bool)> {
        let at = self.metalayer_position(MetalayerKind::Fixed, name)?;
        let there = self.find_metalayer(MetalayerKind::Fixed, name);
        let is_longer = there.is_some_and(|(_, there)| content.len() > there.len());
        if is_longer {
            crate::trace::warning(|| {
                format!("metalayer {name:?} is unchanged: {} bytes are more than it has", content.len())
            });
        }
        Ok((at, !is_longer))
    }
}

impl SuperChunk {
    /// Adds a metalayer. Returns its position. A frame must have no chunks yet.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long or exists, too many metalayers, or a frame with chunks; those of
    /// writing the frame, `Lock`.
    pub(crate) fn meta_add(&self, name: &CStr, content: &[u8]) -> Result<usize> {
        self.read_lock().lock_proof().check_new_metalayer(MetalayerKind::Fixed, name)?;
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        guard.lock_proof().check_new_metalayer(MetalayerKind::Fixed, name)?;
        let counters = self.counters();
        if self.frame().is_some() && (counters.cbytes > 0 || counters.nchunks > 0) {
            return Err(err!(InvalidParam, "the frame has chunks, expected none when a metalayer is added"));
        }
        let at =
            guard.push_metalayer(MetalayerKind::Fixed, name.to_bytes(), MallocBytes::copy_of(content)?)?;
        if let Err(error) = guard.apply_to_frame(&Change::AddMetalayer, &counters) {
            drop(guard.take_metalayer(MetalayerKind::Fixed, at));
            return Err(error);
        }
        guard.increment_change_tick();
        Ok(at)
    }

    /// Overwrites the start of a metalayer's content. Returns its position. Does nothing if the new content is longer.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long, `NotFound`, those of writing the frame, `Lock`.
    pub(crate) fn meta_update(&self, name: &CStr, content: &[u8]) -> Result<usize> {
        if self.disk_frame().is_some_and(DiskFrame::has_lock) {
            // Other handles treat taking the lock for a change as a change, so this call does not take it if there is
            // nothing to write.
            let found =
                self.with_read_access(|access| access.lock_proof().position_for_update(name, content))?;
            if let (at, false) = found {
                return Ok(at);
            }
        }
        // The write includes the counters in the header, so they are reread first: another handle may have changed
        // them.
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        let (at, true) = guard.lock_proof().position_for_update(name, content)? else {
            return guard.lock_proof().metalayer_position(MetalayerKind::Fixed, name);
        };
        let before = guard.overwrite_content(MetalayerKind::Fixed, at, content)?;
        if let Err(error) = guard.apply_to_frame(&Change::ReplaceMetalayerContents, &self.counters()) {
            guard.overwrite_content(MetalayerKind::Fixed, at, &before)?;
            return Err(error);
        }
        guard.increment_change_tick();
        Ok(at)
    }

    /// Returns the position of the metalayer of variable length with that name, including those that other handles have
    /// added.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long, `NotFound`, `Lock`.
    pub(crate) fn vlmeta_exists(&self, name: &CStr) -> Result<usize> {
        check_name(name)?;
        self.refresh_ignoring_errors()?;
        self.read_lock().lock_proof().metalayer_position(MetalayerKind::Variable, name)
    }

    /// Adds a metalayer of variable length. Returns its position.
    ///
    /// # Safety
    /// Pointers in `cparams` fulfil the safety conditions of [`Context::for_compression`] during the call.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long or exists, or a content that is too long; `Failure` for the 17th in a
    /// frame; those of compression and of writing the frame; `Lock`.
    pub(crate) unsafe fn vlmeta_add(
        &self,
        name: &CStr,
        content: &[u8],
        cparams: Option<&blosc2_cparams>,
    ) -> Result<usize> {
        self.refresh_ignoring_errors()?;
        self.read_lock().lock_proof().check_new_metalayer(MetalayerKind::Variable, name)?;
        // SAFETY: the contract of this function: the pointers in `cparams` are valid during the call.
        let chunk = unsafe { compress_content(content, cparams) }?;
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        // Another handle may have added the name in the meantime.
        guard.lock_proof().check_new_metalayer(MetalayerKind::Variable, name)?;
        if self.frame().is_some()
            && guard.lock_proof().metalayer_count(MetalayerKind::Variable) >= MAX_METALAYERS
        {
            return Err(err!(
                Failure,
                "the frame has {MAX_METALAYERS} variable-length metalayers, the limit"
            ));
        }
        let at = guard.push_metalayer(MetalayerKind::Variable, name.to_bytes(), chunk)?;
        if let Err(error) = guard.apply_to_frame(&Change::ReplaceVlmetalayers, &self.counters()) {
            drop(guard.take_metalayer(MetalayerKind::Variable, at));
            return Err(error);
        }
        guard.increment_change_tick();
        Ok(at)
    }

    /// Replaces the content of a metalayer of variable length. Returns its position.
    ///
    /// # Safety
    /// As [`vlmeta_add`](Self::vlmeta_add).
    pub(crate) unsafe fn vlmeta_update(
        &self,
        name: &CStr,
        content: &[u8],
        cparams: Option<&blosc2_cparams>,
    ) -> Result<usize> {
        self.vlmeta_exists(name)?;
        // SAFETY: the contract of this function: the pointers in `cparams` are valid during the call.
        let chunk = unsafe { compress_content(content, cparams) }?;
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        let at = guard.lock_proof().metalayer_position(MetalayerKind::Variable, name)?;
        let before = guard.swap_content(MetalayerKind::Variable, at, chunk)?;
        if let Err(error) = guard.apply_to_frame(&Change::ReplaceVlmetalayers, &self.counters()) {
            if let Some(before) = before {
                guard.swap_content(MetalayerKind::Variable, at, before)?;
            }
            return Err(error);
        }
        guard.increment_change_tick();
        Ok(at)
    }

    /// Returns the position and the content of a metalayer of variable length.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long, `NotFound`, `Data` for a content that is not a chunk, `Lock`. The
    /// inner result has the error of decompression.
    pub(crate) fn vlmeta_get(&self, name: &CStr) -> Result<(usize, Result<MallocBytes>)> {
        check_name(name)?;
        self.refresh_ignoring_errors()?;
        let lock = self.read_lock();
        let Some((at, chunk)) = lock.lock_proof().find_metalayer(MetalayerKind::Variable, name) else {
            return Err(err!(NotFound, "no metalayer {name:?}"));
        };
        let mut header = ChunkHeader::default();
        let stored = parse_content_chunk(&mut header, chunk)?;
        if !decoding_runs_callbacks(stored.header()) {
            return Ok((at, decompress_content(&stored)));
        }
        // Functions of the program must not run with the lock held.
        let copy = fallible::copy_of(chunk)?;
        drop(lock);
        Ok((at, decompress_content(&parse_content_chunk(&mut header, &copy)?)))
    }

    /// Deletes a metalayer of variable length. Returns the new number of metalayers of variable length.
    ///
    /// # Errors
    /// `InvalidParam` for a name that is too long, `NotFound`, those of writing the frame, `Lock`.
    pub(crate) fn vlmeta_delete(&self, name: &CStr) -> Result<usize> {
        self.vlmeta_exists(name)?;
        let mut session = self.lock_for_change(true)?;
        let guard = session.guard();
        let at = guard.lock_proof().metalayer_position(MetalayerKind::Variable, name)?;
        let taken = guard.take_metalayer(MetalayerKind::Variable, at);
        if let Err(error) = guard.apply_to_frame(&Change::ReplaceVlmetalayers, &self.counters()) {
            if let Some(taken) = taken {
                guard.insert_metalayer(MetalayerKind::Variable, at, taken)?;
            }
            return Err(error);
        }
        guard.increment_change_tick();
        Ok(guard.lock_proof().metalayer_count(MetalayerKind::Variable))
    }

    /// Returns pointers to the names of the metalayers of variable length for C code, valid until these change.
    pub(crate) fn vlmeta_names(&self) -> Result<Vec<*mut c_char>> {
        self.read_lock().lock_proof().metalayer_names(MetalayerKind::Variable)
    }

    pub(crate) fn has_metalayer(&self, name: &CStr) -> bool {
        self.read_lock().lock_proof().find_metalayer(MetalayerKind::Fixed, name).is_some()
    }

    /// Returns copies of the names of a list, for Rust programs.
    pub(crate) fn metalayer_name_copies(&self, kind: MetalayerKind) -> Vec<Vec<u8>> {
        self.read_lock().lock_proof().metalayers(kind).map(|metalayer| metalayer.name.to_vec()).collect()
    }

    pub(crate) fn has_array(&self) -> bool {
        self.has_metalayer(c"b2nd") || self.has_metalayer(c"caterva")
    }

    /// Returns a copy of the content of a fixed metalayer; `None` if there is none of that name.
    pub(crate) fn meta_copy(&self, name: &CStr) -> Result<Option<Vec<u8>>> {
        let lock = self.read_lock();
        let found = lock.lock_proof().find_metalayer(MetalayerKind::Fixed, name);
        found.map(|(_, content)| fallible::copy_of(content)).transpose()
    }

    /// Returns a copy of the metalayer that describes an array: `b2nd`, or the older `caterva`. `None` if the
    /// super-chunk holds no array.
    pub(crate) fn array_meta(&self) -> Result<Option<Vec<u8>>> {
        self.read_lock().lock_proof().find_array_meta().map(fallible::copy_of).transpose()
    }
}

/// Compresses the content of a metalayer with the given parameters, or the default ones.
///
/// # Safety
/// Pointers in `cparams` fulfil the safety conditions of [`Context::for_compression`] during the call.
pub(crate) unsafe fn compress_content(
    content: &[u8],
    cparams: Option<&blosc2_cparams>,
) -> Result<MallocBytes> {
    let room = content.len() + EXTENDED_HEADER_LENGTH;
    if i32::try_from(room).is_err() {
        return Err(err!(
            InvalidParam,
            "the content needs {room} bytes, expected at most {}; {LONGER_CONTENT}",
            i32::MAX
        ));
    }
    // SAFETY: the defaults have no such pointers; those of `cparams` are guaranteed by the caller.
    let context = unsafe { Context::for_compression(cparams.unwrap_or(&BLOSC2_CPARAMS_DEFAULTS)) }
        .map_err(to_kind(ErrorKind::NullPointer))?;
    let mut chunk = MallocBytes::zeroed(room)?;
    let cbytes = context.compress(ContentSource::Buffer(content), OutBuffer::from(&mut chunk[..]))?;
    chunk.truncate_and_shrink(cbytes);
    Ok(chunk)
}

/// Parses a compressed content, whose length must be that in its header.
fn parse_content_chunk<'a>(header: &'a mut ChunkHeader, chunk: &'a [u8]) -> Result<ParsedChunk<'a>> {
    let stored = ParsedChunk::parse(header, chunk).map_err(|error| err!(Data, "invalid chunk: {error}"))?;
    let cbytes = stored.header().cbytes;
    if usize::try_from(cbytes).is_ok_and(|cbytes| cbytes != chunk.len()) {
        return Err(err!(Data, "the chunk has {} bytes, expected {cbytes} by its header", chunk.len()));
    }
    Ok(stored)
}

/// Decompresses the content of a metalayer, without the postfilter, which is only for chunks.
pub(crate) fn decompress_content(chunk: &ParsedChunk<'_>) -> Result<MallocBytes> {
    let mut content = MallocBytes::zeroed(chunk.header().nbytes())?;
    decompress::decompress(&DecompressParams::default(), chunk, OutBuffer::from(&mut content[..]))?;
    Ok(content)
}
