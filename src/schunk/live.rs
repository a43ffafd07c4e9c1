//! The public struct of a super-chunk (design decision 1): every access to it is here.
//!
//! C code reads and writes the struct between calls, so the fields are the truth: they are read at the start of a call
//! and written at its end, through raw pointers. What they point at is `malloc`ed (`abi.md` 3.6, 3.7).
//!
//! The rule of all `unsafe` here: the struct is valid and its pointers are NULL or what the ABI says, since only the
//! library sets them and programs keep to `abi.md` 3.6.1; and whoever calls holds the gate as the docs say.

use super::gate::Changing;
use super::rules::Counters;
use super::sync::Access;
use super::{Keeping, SuperChunk};
use crate::abi::{
    BLOSC2_CPARAMS_DEFAULTS, BLOSC2_DPARAMS_DEFAULTS, BLOSC2_MAX_METALAYERS, BLOSC2_MAX_VLMETALAYERS,
    blosc2_cparams, blosc2_dparams, blosc2_frame, blosc2_metalayer, blosc2_schunk, blosc2_storage,
};
use crate::buffers;
use crate::chunk::{format::offset, read_i32};
use crate::err;
use crate::error::Result;
use crate::frame::FrameKind;
use crate::frame::header::FrameHeader;
use crate::frame::metalayers::Metalayer;
use crate::frame::store::{Frame, OwnedMetalayer};
use crate::malloc::Malloced;
use crate::pipeline::context::Context;
use crate::pipeline::library;
use crate::pipeline::params::Handle;
use std::ffi::CStr;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, Ordering};

/// The array of chunks grows by so many bytes.
const DATA_STEP: usize = 4096;

/// See [`SuperChunk::counter_fields`].
struct CounterFields<'a> {
    nchunks: &'a AtomicI64,
    nbytes: &'a AtomicI64,
    cbytes: &'a AtomicI64,
    chunksize: &'a AtomicI32,
    blocksize: &'a AtomicI32,
    flags2: &'a AtomicU8,
}

/// Which list of metalayers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Fixed ones, in the header of a frame.
    Fixed,
    /// Those of variable length, compressed, in the trailer.
    Variable,
}

impl Layer {
    /// How many there can be.
    pub(crate) fn limit(self) -> usize {
        match self {
            Layer::Fixed => BLOSC2_MAX_METALAYERS as usize,
            Layer::Variable => BLOSC2_MAX_VLMETALAYERS as usize,
        }
    }
}

impl SuperChunk {
    /// The public struct, as C knows it.
    pub(crate) fn as_ptr(&self) -> *mut blosc2_schunk {
        self.public.get()
    }

    /// What C code calls the super-chunk in parameters.
    pub(super) fn handle(&self) -> Handle {
        Handle(self.as_ptr().cast())
    }

    /// Reads a field.
    fn field<T>(&self, read: impl FnOnce(*const blosc2_schunk) -> T) -> T {
        read(self.as_ptr())
    }

    /// The counters as they are now. With the gate held they belong together.
    pub(crate) fn counters(&self) -> Counters {
        let fields = self.counter_fields();
        Counters {
            nchunks: fields.nchunks.load(Ordering::Relaxed),
            nbytes: fields.nbytes.load(Ordering::Relaxed),
            cbytes: fields.cbytes.load(Ordering::Relaxed),
            chunksize: fields.chunksize.load(Ordering::Relaxed),
            flags2: fields.flags2.load(Ordering::Relaxed),
        }
    }

    /// Publishes counters. The gate is held for a change.
    pub(super) fn set_counters(&self, counters: &Counters) {
        let fields = self.counter_fields();
        fields.nchunks.store(counters.nchunks, Ordering::Relaxed);
        fields.nbytes.store(counters.nbytes, Ordering::Relaxed);
        fields.cbytes.store(counters.cbytes, Ordering::Relaxed);
        fields.chunksize.store(counters.chunksize, Ordering::Relaxed);
        fields.flags2.store(counters.flags2, Ordering::Relaxed);
    }

    /// The fields that readers look at before they wait for the gate: only touched atomically.
    fn counter_fields(&self) -> CounterFields<'_> {
        let s = self.as_ptr();
        // SAFETY: the rule of the module; aligned fields, which the library only touches in this way.
        unsafe {
            CounterFields {
                nchunks: AtomicI64::from_ptr(&raw mut (*s).nchunks),
                nbytes: AtomicI64::from_ptr(&raw mut (*s).nbytes),
                cbytes: AtomicI64::from_ptr(&raw mut (*s).cbytes),
                chunksize: AtomicI32::from_ptr(&raw mut (*s).chunksize),
                blocksize: AtomicI32::from_ptr(&raw mut (*s).blocksize),
                flags2: AtomicU8::from_ptr(&raw mut (*s).flags2),
            }
        }
    }

    /// Item size in bytes.
    pub(crate) fn typesize(&self) -> i32 {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).typesize })
    }

    /// Block size in bytes as it was asked for.
    pub(crate) fn blocksize(&self) -> i32 {
        self.counter_fields().blocksize.load(Ordering::Relaxed)
    }

    pub(super) fn set_blocksize(&self, blocksize: i32) {
        self.counter_fields().blocksize.store(blocksize, Ordering::Relaxed);
    }

    /// Whether chunks and frame belong to another array.
    pub(crate) fn is_view(&self) -> bool {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).view })
    }

    /// The filter ids.
    pub(super) fn filters(&self) -> [u8; 6] {
        // SAFETY: the rule of the module.
        self.field(|s| unsafe { (*s).filters })
    }

    /// Tells pre- and postfilters which chunk is at work. Several readers may say so at once.
    pub(super) fn note_current(&self, nchunk: i64) {
        // SAFETY: the rule of the module; an aligned field that readers only write atomically.
        unsafe { AtomicI64::from_ptr(&raw mut (*self.as_ptr()).current_nchunk) }
            .store(nchunk, Ordering::Relaxed);
    }

    /// Counts a change of metalayers, or one by another process.
    pub(super) fn tick(&self) {
        // SAFETY: the rule of the module; the gate is held for a change.
        unsafe { (*self.as_ptr()).change_tick += 1 }
    }

    /// The storage that the super-chunk was made with.
    pub(crate) fn storage(&self) -> &blosc2_storage {
        // SAFETY: the rule of the module; it is never NULL.
        unsafe { &*(*self.as_ptr()).storage }
    }

    /// The compression context.
    ///
    /// # Errors
    /// `NullPointer` when a program has taken it away.
    pub(crate) fn cctx(&self) -> Result<&Context> {
        // SAFETY: the rule of the module.
        unsafe { (*self.as_ptr()).cctx.cast::<Context>().as_ref() }
            .ok_or_else(|| err!(NullPointer, "the super-chunk has no compression context"))
    }

    /// The decompression context, if there is one.
    pub(crate) fn dctx(&self) -> Option<&Context> {
        // SAFETY: the rule of the module.
        unsafe { (*self.as_ptr()).dctx.cast::<Context>().as_ref() }
    }

    /// The frame, if the chunks are in one.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        let owner = self.owner()?.as_ptr();
        // SAFETY: the rule of the module: a frame of ours, which lives as long as the super-chunk that owns it.
        unsafe { (*owner).frame.cast::<Frame>().as_ref() }
    }

    pub(super) fn set_frame(&self, frame: Option<Box<Frame>>) {
        let frame = frame.map_or(ptr::null_mut(), Box::into_raw);
        // SAFETY: the rule of the module; the gate is held for a change, or nobody knows the super-chunk yet.
        unsafe { (*self.as_ptr()).frame = frame.cast::<blosc2_frame>() }
    }

    /// Takes the frame away from the super-chunk.
    pub(super) fn take_frame(&self) -> Option<Box<Frame>> {
        // SAFETY: the rule of the module; the gate is held for a change, or the super-chunk is going.
        unsafe {
            let frame = ptr::replace(&raw mut (*self.as_ptr()).frame, ptr::null_mut()).cast::<Frame>();
            if frame.is_null() { None } else { Some(Box::from_raw(frame)) }
        }
    }

    /// How chunks are kept.
    pub(crate) fn keeping(&self) -> Keeping {
        match self.frame().map(Frame::kind) {
            None => Keeping::Memory,
            Some(FrameKind::Contiguous) => Keeping::Contiguous,
            Some(FrameKind::Sparse) => Keeping::Directory,
        }
    }

    /// The header of a frame that tells of this super-chunk with those counters.
    pub(super) fn frame_header(&self, counters: &Counters) -> FrameHeader {
        let threads = |context: Option<&Context>| context.map_or(1, |c| c.head().nthreads());
        let nthreads_c = threads(self.cctx().ok());
        let nthreads_d = {
            let _use = self.dctx_use.lock();
            threads(self.dctx())
        };
        let blocksize = self.blocksize();
        // SAFETY: the rule of the module.
        self.field(|s| unsafe {
            FrameHeader {
                header_len: 0,
                frame_len: 0,
                version: 0,
                kind: self.frame().map_or(FrameKind::Contiguous, Frame::kind),
                compcode: (*s).compcode,
                compcode_meta: (*s).compcode_meta,
                clevel: (*s).clevel,
                splitmode: (*s).splitmode,
                use_dict: (*s).use_dict != 0,
                nbytes: counters.nbytes,
                cbytes: counters.cbytes,
                typesize: (*s).typesize,
                blocksize,
                chunksize: counters.chunksize,
                nthreads_c,
                nthreads_d,
                has_vlmetalayers: (*s).nvlmetalayers > 0,
                filters: (*s).filters,
                filters_meta: (*s).filters_meta,
                flags2: counters.flags2,
            }
        })
    }

    /// Takes over what the header of a frame says of a super-chunk.
    pub(super) fn set_from_header(&self, header: &FrameHeader) {
        let s = self.as_ptr();
        // SAFETY: the rule of the module; nobody knows the super-chunk yet.
        unsafe {
            (*s).compcode = header.compcode;
            (*s).compcode_meta = header.compcode_meta;
            (*s).clevel = header.clevel;
            (*s).splitmode = header.splitmode;
            (*s).use_dict = u8::from(header.use_dict);
            (*s).typesize = header.typesize;
            (*s).blocksize = header.blocksize;
            (*s).filters = header.filters;
            (*s).filters_meta = header.filters_meta;
        }
    }
}

/// Metalayers.
impl SuperChunk {
    /// The slots of a list, and how many are taken.
    fn slots(&self, layer: Layer) -> (*mut *mut blosc2_metalayer, usize) {
        let s = self.as_ptr();
        // SAFETY: the rule of the module.
        let (slots, count) = unsafe {
            match layer {
                Layer::Fixed => (
                    (&raw mut (*s).metalayers).cast::<*mut blosc2_metalayer>(),
                    usize::from((*s).nmetalayers),
                ),
                Layer::Variable => (
                    (&raw mut (*s).vlmetalayers).cast::<*mut blosc2_metalayer>(),
                    usize::try_from((*s).nvlmetalayers).unwrap_or(0),
                ),
            }
        };
        (slots, count.min(layer.limit()))
    }

    fn set_count(&self, layer: Layer, count: usize) {
        let s = self.as_ptr();
        // SAFETY: the rule of the module; the gate is held for a change.
        unsafe {
            match layer {
                Layer::Fixed => (*s).nmetalayers = count as u16,
                Layer::Variable => (*s).nvlmetalayers = count as i16,
            }
        }
    }

    /// The metalayers of a list. The gate is held.
    pub(super) fn metalayers(&self, layer: Layer) -> Vec<Metalayer<'_>> {
        let (slots, count) = self.slots(layer);
        let borrow = |n| {
            // SAFETY: the rule of the module: the first `count` slots are valid.
            let m = unsafe { &**slots.add(n) };
            // SAFETY: names end with NUL, contents have their lengths.
            unsafe { Metalayer { name: CStr::from_ptr(m.name).to_bytes(), content: content_of(m) } }
        };
        (0..count).map(borrow).collect()
    }

    /// The position and the content of the metalayer with that name. The gate is held.
    pub(super) fn find(&self, layer: Layer, name: &CStr) -> Option<(usize, &[u8])> {
        let (slots, count) = self.slots(layer);
        (0..count).find_map(|n| {
            // SAFETY: as above.
            let m = unsafe { &**slots.add(n) };
            // SAFETY: as above.
            (unsafe { CStr::from_ptr(m.name) } == name).then(|| (n, unsafe { content_of(m) }))
        })
    }

    /// The pointers to the names, as C may have them. The gate is held.
    pub(super) fn names(&self, layer: Layer) -> Vec<*mut std::ffi::c_char> {
        let (slots, count) = self.slots(layer);
        // SAFETY: as above.
        (0..count).map(|n| unsafe { (**slots.add(n)).name }).collect()
    }

    /// Adds a metalayer behind the others; there is room. The gate is held for a change.
    pub(super) fn push_metalayer(&self, layer: Layer, name: &[u8], content: Malloced) -> Result<usize> {
        let (slots, count) = self.slots(layer);
        if count >= layer.limit() {
            return Err(err!(InvalidParam, "{count} metalayers are the most"));
        }
        let mut terminated = name.to_vec();
        terminated.push(0);
        let name = Malloced::copy_of(&terminated)?;
        // SAFETY: any length may be asked for.
        let slot: *mut blosc2_metalayer = unsafe { libc::calloc(1, size_of::<blosc2_metalayer>()) }.cast();
        if slot.is_null() {
            return Err(err!(MemoryAlloc, "a metalayer"));
        }
        let content_len = content.len() as i32;
        let metalayer =
            blosc2_metalayer { name: name.into_raw().cast(), content: content.into_raw(), content_len };
        // SAFETY: a fresh block of that size, and a slot that is there.
        unsafe {
            slot.write(metalayer);
            slots.add(count).write(slot);
        }
        self.set_count(layer, count + 1);
        Ok(count)
    }

    /// Takes a metalayer out of its list. The gate is held for a change.
    pub(super) fn take_metalayer(&self, layer: Layer, at: usize) -> TakenMetalayer {
        let (slots, count) = self.slots(layer);
        // SAFETY: the rule of the module, and `at < count` as callers found it.
        unsafe {
            let taken = slots.add(at).read();
            ptr::copy(slots.add(at + 1), slots.add(at), count - at - 1);
            slots.add(count - 1).write(ptr::null_mut());
            self.set_count(layer, count - 1);
            TakenMetalayer(taken)
        }
    }

    /// Puts a metalayer back that was taken. The gate is held for a change.
    pub(super) fn put_metalayer_back(&self, layer: Layer, at: usize, taken: TakenMetalayer) {
        let (slots, count) = self.slots(layer);
        // SAFETY: as above: there was room before.
        unsafe {
            ptr::copy(slots.add(at), slots.add(at + 1), count - at);
            slots.add(at).write(taken.0);
        }
        std::mem::forget(taken);
        self.set_count(layer, count + 1);
    }

    /// Gives a metalayer another content, and returns the one that it had. The gate is held for a change.
    pub(super) fn swap_content(&self, layer: Layer, at: usize, content: Malloced) -> Option<Malloced> {
        let (slots, _) = self.slots(layer);
        let len = content.len();
        // SAFETY: the rule of the module, and `at` as callers found it; the content was a `malloc` block.
        unsafe {
            let m = &mut **slots.add(at);
            let before = content_block(m);
            m.content = content.into_raw();
            m.content_len = len as i32;
            before
        }
    }

    /// Overwrites the first bytes of a content, which is at least as long; returns those that were there. The gate is
    /// held for a change.
    pub(super) fn overwrite_content(&self, layer: Layer, at: usize, bytes: &[u8]) -> Vec<u8> {
        let (slots, _) = self.slots(layer);
        // SAFETY: the rule of the module, and callers have compared the lengths.
        unsafe {
            let m = &mut **slots.add(at);
            let content = std::slice::from_raw_parts_mut(content_start(m), bytes.len());
            let before = content.to_vec();
            content.copy_from_slice(bytes);
            before
        }
    }

    /// Replaces a whole list. The gate is held for a change. The list is as before after an error.
    ///
    /// # Errors
    /// `MemoryAlloc`.
    pub(super) fn replace_metalayers(&self, layer: Layer, all: &[OwnedMetalayer]) -> Result<()> {
        let mut contents = Vec::new();
        for (_, content) in all {
            contents.push(Malloced::copy_of(content)?);
        }
        self.free_metalayers(layer);
        for ((name, _), content) in all.iter().zip(contents) {
            self.push_metalayer(layer, name, content)?;
        }
        Ok(())
    }

    pub(super) fn free_metalayers(&self, layer: Layer) {
        let (_, count) = self.slots(layer);
        for at in (0..count).rev() {
            drop(self.take_metalayer(layer, at));
        }
    }
}

/// A metalayer that is in no list.
pub(super) struct TakenMetalayer(*mut blosc2_metalayer);

impl Drop for TakenMetalayer {
    fn drop(&mut self) {
        // SAFETY: it was in a list, and is in none any more: its blocks are ours to free.
        unsafe {
            libc::free((*self.0).name.cast());
            libc::free((*self.0).content.cast());
            libc::free(self.0.cast());
        }
    }
}

fn content_start(m: &blosc2_metalayer) -> *mut u8 {
    if m.content.is_null() { NonNull::dangling().as_ptr() } else { m.content }
}

/// # Safety
/// The content has its length.
unsafe fn content_of(m: &blosc2_metalayer) -> &[u8] {
    let len = if m.content.is_null() { 0 } else { usize::try_from(m.content_len).unwrap_or(0) };
    // SAFETY: by the caller's word.
    unsafe { std::slice::from_raw_parts(content_start(m), len) }
}

/// # Safety
/// The content is a `malloc` block of its length, and is not used through `m` any more.
unsafe fn content_block(m: &blosc2_metalayer) -> Option<Malloced> {
    let len = usize::try_from(m.content_len).unwrap_or(0);
    // SAFETY: by the caller's word.
    NonNull::new(m.content).map(|start| unsafe { Malloced::from_raw(start, len) })
}

/// Bytes of a chunk in memory.
///
/// # Safety
/// `chunk` is one of the array of a super-chunk: as long as its header says.
unsafe fn chunk_len(chunk: *const u8) -> usize {
    // SAFETY: the caller's promise.
    let head = unsafe { std::slice::from_raw_parts(chunk, crate::chunk::format::MIN_HEADER_LENGTH) };
    // What came in had a header that makes sense.
    let cbytes = read_i32(head, offset::CBYTES).and_then(|cbytes| usize::try_from(cbytes).ok());
    cbytes.unwrap_or(0)
}

/// Frees a chunk, or keeps its memory for another.
///
/// # Safety
/// `chunk` is NULL or was one of the array of a super-chunk, and nobody uses it any more.
unsafe fn free_chunk(chunk: *mut u8) {
    if let Some(block) = NonNull::new(chunk) {
        // SAFETY: the caller's promise; chunks of such arrays are `malloc` blocks.
        unsafe { buffers::give_block(block, chunk_len(chunk)) }
    }
}

/// The chunks of a super-chunk in memory that has no frame.
impl SuperChunk {
    /// Chunk `nchunk`, which is there.
    ///
    /// # Errors
    /// `Data` when the array has no such chunk.
    pub(super) fn chunk_in_memory<'a>(&'a self, _access: Access<'a>, nchunk: i64) -> Result<&'a [u8]> {
        let owner = self.owner().ok_or_else(|| err!(Failure, "the array of a view is gone"))?;
        let counters = owner.counters();
        let at = usize::try_from(nchunk).ok().filter(|_| nchunk < counters.nchunks);
        let missing = || err!(Data, "chunk {nchunk} of {} is not there", counters.nchunks);
        // SAFETY: the rule of the module: the array has `nchunks` chunks, each as long as its header says.
        unsafe {
            let data = (*owner.as_ptr()).data;
            let chunk = at.filter(|_| !data.is_null()).map_or(ptr::null_mut(), |at| *data.add(at));
            if chunk.is_null() {
                return Err(missing());
            }
            Ok(std::slice::from_raw_parts(chunk, chunk_len(chunk)))
        }
    }

    /// Puts a chunk before chunk `at` of `nchunks`, or at the end. The counters are the caller's.
    ///
    /// # Errors
    /// `MemoryAlloc`; nothing changes then.
    #[inline(always)]
    pub(super) fn insert_in_memory(
        &self,
        changing: &Changing<'_>,
        at: i64,
        nchunks: i64,
        chunk: Malloced,
    ) -> Result<()> {
        debug_assert!(changing.is_of(&self.gate));
        let (at, nchunks) = (at as usize, nchunks as usize);
        let s = self.as_ptr();
        // SAFETY: the rule of the module: `data_len` bytes are there, room for `nchunks` pointers at least.
        unsafe {
            if (nchunks + 1) * size_of::<*mut u8>() > (*s).data_len {
                self.grow_array()?;
            }
            let place = (*s).data.add(at);
            if at < nchunks {
                ptr::copy(place, place.add(1), nchunks - at);
            }
            place.write(chunk.into_raw());
        }
        Ok(())
    }

    /// Makes room for more chunks. The gate is held for a change.
    #[cold]
    fn grow_array(&self) -> Result<()> {
        let s = self.as_ptr();
        // SAFETY: the rule of the module.
        unsafe {
            let len = (*s).data_len + DATA_STEP;
            let data: *mut *mut u8 = libc::realloc((*s).data.cast(), len).cast();
            if data.is_null() {
                return Err(err!(MemoryAlloc, "an array of {len} bytes"));
            }
            (*s).data = data;
            (*s).data_len = len;
        }
        Ok(())
    }

    /// Writes another chunk over chunk `at`, which is `old_len` bytes long, if it needs just as much memory; whether it
    /// did.
    pub(super) fn overwrite_in_memory(
        &self,
        changing: &Changing<'_>,
        at: i64,
        chunk: &[u8],
        old_len: usize,
    ) -> bool {
        debug_assert!(changing.is_of(&self.gate));
        // No allocator hands out less than this at a time, so that nothing is wasted, however often this happens.
        const GRAIN: usize = 16;
        if chunk.len() > old_len || chunk.len().div_ceil(GRAIN) != old_len.div_ceil(GRAIN) {
            return false;
        }
        // SAFETY: the rule of the module, and the caller has checked `at`; the block is as long as its header says. A
        // chunk that a program was shown, and which it hands in, is left to the usual way.
        unsafe {
            let block = *(*self.as_ptr()).data.add(at as usize);
            let apart = chunk.as_ptr().addr().abs_diff(block.addr());
            if apart < old_len {
                return false;
            }
            block.copy_from_nonoverlapping(chunk.as_ptr(), chunk.len());
        }
        true
    }

    /// Puts another chunk in the place of one.
    pub(super) fn replace_in_memory(&self, changing: &Changing<'_>, at: i64, chunk: Malloced) {
        debug_assert!(changing.is_of(&self.gate));
        // SAFETY: the rule of the module, and the caller has checked `at`; the old chunk is a `malloc` block.
        unsafe {
            let place = (*self.as_ptr()).data.add(at as usize);
            free_chunk(*place);
            place.write(chunk.into_raw());
        }
    }

    /// Frees a chunk and closes the gap. The counters are the caller's.
    pub(super) fn remove_in_memory(&self, changing: &Changing<'_>, at: i64) {
        debug_assert!(changing.is_of(&self.gate));
        let (at, nchunks) = (at as usize, self.counters().nchunks as usize);
        // SAFETY: as above.
        unsafe {
            let place = (*self.as_ptr()).data.add(at);
            free_chunk(*place);
            ptr::copy(place.add(1), place, nchunks - at - 1);
            (*self.as_ptr()).data.add(nchunks - 1).write(ptr::null_mut());
        }
    }

    /// Puts the chunks into another order, which is a permutation of all.
    pub(super) fn reorder_in_memory(&self, changing: &Changing<'_>, order: &[i64]) {
        debug_assert!(changing.is_of(&self.gate));
        if order.is_empty() {
            return;
        }
        // SAFETY: the array has as many chunks as the order.
        unsafe {
            let data = (*self.as_ptr()).data;
            let before = std::slice::from_raw_parts(data, order.len()).to_vec();
            for (at, &from) in order.iter().enumerate() {
                data.add(at).write(before[from as usize]);
            }
        }
    }

    pub(super) fn free_chunks(&self) {
        let nchunks = usize::try_from(self.counters().nchunks).unwrap_or(0);
        let s = self.as_ptr();
        // SAFETY: the rule of the module; the super-chunk is going.
        unsafe {
            if !(*s).data.is_null() {
                for at in 0..nchunks {
                    free_chunk(*(*s).data.add(at));
                }
                libc::free((*s).data.cast());
                (*s).data = ptr::null_mut();
            }
        }
    }
}

/// Parameters for C, and what array layers look for.
impl SuperChunk {
    /// The compression parameters, as far as they are numbers (`schunk.md` 9).
    pub(crate) fn cparams(&self) -> blosc2_cparams {
        let nthreads = self.cctx().map_or(library::nthreads(), |cctx| cctx.head().nthreads());
        let s = self.as_ptr();
        let mut cparams =
            blosc2_cparams { tuner_id: 0, nthreads, schunk: s.cast(), ..BLOSC2_CPARAMS_DEFAULTS };
        // SAFETY: the rule of the module.
        unsafe {
            cparams.compcode = (*s).compcode;
            cparams.compcode_meta = (*s).compcode_meta;
            cparams.clevel = (*s).clevel;
            cparams.use_dict = i32::from((*s).use_dict);
            cparams.typesize = (*s).typesize;
            cparams.blocksize = self.blocksize();
            cparams.splitmode = i32::from((*s).splitmode);
            cparams.filters = (*s).filters;
            cparams.filters_meta = (*s).filters_meta;
        }
        cparams
    }

    /// The decompression parameters, as far as they are numbers (`schunk.md` 9).
    pub(crate) fn dparams(&self) -> blosc2_dparams {
        let _use = self.dctx_use.lock();
        let nthreads = self.dctx().map_or(library::nthreads(), |dctx| dctx.head().nthreads());
        blosc2_dparams { nthreads, schunk: self.as_ptr().cast(), typesize: 0, ..BLOSC2_DPARAMS_DEFAULTS }
    }

    /// Tells the size of chunks before there are any.
    pub(crate) fn preset_chunksize(&self, chunksize: i32) {
        self.counter_fields().chunksize.store(chunksize, Ordering::Relaxed);
    }

    /// How often metalayers have changed.
    pub(crate) fn change_tick(&self) -> i64 {
        let _reading = self.gate.read();
        // SAFETY: the rule of the module; the gate is held.
        self.field(|s| unsafe { (*s).change_tick })
    }

    /// Whether there is a metalayer with that name.
    pub(crate) fn has_metalayer(&self, name: &CStr) -> bool {
        let _reading = self.gate.read();
        self.find(Layer::Fixed, name).is_some()
    }

    /// What describes the array that the super-chunk holds: a copy of its metalayer `b2nd`, or of the older `caterva`.
    /// `None` if it holds none.
    pub(crate) fn array_meta(&self) -> Option<Vec<u8>> {
        let _reading = self.gate.read();
        let found = self.find(Layer::Fixed, c"b2nd").or_else(|| self.find(Layer::Fixed, c"caterva"));
        found.map(|(_, content)| content.to_vec())
    }
}
