//! The lists of metalayers in the public struct: arrays of pointers, of which the first `nmetalayers` (`nvlmetalayers`)
//! are valid. Each points at a `malloc` block with a name and a content that are `malloc` blocks, too.

use super::metalayer_kind::MetalayerKind;
use crate::abi::blosc2_metalayer;
use crate::error::{Result, ensure, err};
use crate::fallible;
use crate::frame::format::metalayers::Metalayer;
use crate::frame::format::metalayers::OwnedMetalayer;
use crate::malloc::MallocBytes;
use crate::schunk::SuperChunk;
use crate::schunk::access_lock::{LockProof, WriteGuard};
use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};

/// The slots of a list, and the number of valid ones, which is at most the number of slots.
type MetalayerSlots = (*mut *mut blosc2_metalayer, usize);

impl<'a> LockProof<'a, SuperChunk> {
    fn slots(self, kind: MetalayerKind) -> MetalayerSlots {
        let s = self.object().as_ptr();
        // SAFETY: the rule of `c_struct`; the lock is held.
        let (slots, count) = unsafe {
            match kind {
                MetalayerKind::Fixed => (
                    (&raw mut (*s).metalayers).cast::<*mut blosc2_metalayer>(),
                    usize::from((*s).nmetalayers),
                ),
                MetalayerKind::Variable => (
                    (&raw mut (*s).vlmetalayers).cast::<*mut blosc2_metalayer>(),
                    usize::try_from((*s).nvlmetalayers).unwrap_or(0),
                ),
            }
        };
        (slots, count.min(kind.max_count()))
    }

    /// Returns metalayer `at` of a list, if there is one.
    fn metalayer(self, kind: MetalayerKind, at: usize) -> Option<&'a blosc2_metalayer> {
        let (slots, count) = self.slots(kind);
        // SAFETY: the rule of `c_struct`: the first `count` slots are valid. Changes need a `WriteGuard`, which the
        // proof of the lock excludes for `'a`.
        (at < count).then(|| unsafe { &**slots.add(at) })
    }

    fn iter_metalayers(self, kind: MetalayerKind) -> impl Iterator<Item = &'a blosc2_metalayer> {
        (0..).map_while(move |at| self.metalayer(kind, at))
    }

    pub(in crate::schunk) fn metalayer_count(self, kind: MetalayerKind) -> usize {
        self.slots(kind).1
    }

    pub(in crate::schunk) fn metalayers(self, kind: MetalayerKind) -> impl Iterator<Item = Metalayer<'a>> {
        self.iter_metalayers(kind).map(|m| Metalayer { name: name_of(m).to_bytes(), content: content_of(m) })
    }

    /// Returns the position and the content of the metalayer with that name.
    pub(in crate::schunk) fn find_metalayer(
        self,
        kind: MetalayerKind,
        name: &CStr,
    ) -> Option<(usize, &'a [u8])> {
        let mut all = self.iter_metalayers(kind).enumerate();
        all.find_map(|(at, m)| (name_of(m) == name).then(|| (at, content_of(m))))
    }

    /// Returns the pointers to the names, for C code.
    pub(in crate::schunk) fn metalayer_names(self, kind: MetalayerKind) -> Result<Vec<*mut c_char>> {
        fallible::collect(self.iter_metalayers(kind).map(|m| m.name))
    }
}

impl WriteGuard<'_, SuperChunk> {
    fn slots_for_change(&mut self, kind: MetalayerKind) -> MetalayerSlots {
        self.object_for_change();
        self.lock_proof().slots(kind)
    }

    fn metalayer_for_change(&mut self, kind: MetalayerKind, at: usize) -> Result<&mut blosc2_metalayer> {
        let (slots, count) = self.slots_for_change(kind);
        ensure!(at < count, NotFound, "no metalayer {at} in a list of {count}");
        // SAFETY: the rule of `c_struct`: the first `count` slots are valid; exclusive access.
        Ok(unsafe { &mut **slots.add(at) })
    }

    fn set_metalayer_count(&mut self, kind: MetalayerKind, count: usize) {
        let s = self.object_for_change().as_ptr();
        // SAFETY: the rule of `c_struct`; exclusive access.
        unsafe {
            match kind {
                MetalayerKind::Fixed => (*s).nmetalayers = count as u16,
                MetalayerKind::Variable => (*s).nvlmetalayers = count as i16,
            }
        }
    }

    /// Appends a metalayer. Returns its position.
    ///
    /// # Errors
    /// `InvalidParam` when the list is full, `MemoryAlloc`.
    pub(in crate::schunk) fn push_metalayer(
        &mut self,
        kind: MetalayerKind,
        name: &[u8],
        content: MallocBytes,
    ) -> Result<usize> {
        let metalayer = DetachedMetalayer::new(name, content)?;
        let at = self.lock_proof().metalayer_count(kind);
        self.insert_metalayer(kind, at, metalayer)?;
        Ok(at)
    }

    /// Inserts a metalayer before metalayer `at` of a list, or at its end.
    pub(in crate::schunk) fn insert_metalayer(
        &mut self,
        kind: MetalayerKind,
        at: usize,
        metalayer: DetachedMetalayer,
    ) -> Result<()> {
        let (slots, count) = self.slots_for_change(kind);
        if count >= kind.max_count() {
            return Err(err!(InvalidParam, "the list has {count} metalayers already, which is the limit"));
        }
        ensure!(at <= count, InvalidParam, "the position of the metalayer is {at}, expected 0 to {count}");
        // SAFETY: `at <= count`, and there are more slots than `count`; exclusive access.
        unsafe {
            ptr::copy(slots.add(at), slots.add(at + 1), count - at);
            slots.add(at).write(metalayer.into_raw());
        }
        self.set_metalayer_count(kind, count + 1);
        Ok(())
    }

    /// Removes a metalayer from its list and returns it; `None` if there is no metalayer `at`.
    pub(in crate::schunk) fn take_metalayer(
        &mut self,
        kind: MetalayerKind,
        at: usize,
    ) -> Option<DetachedMetalayer> {
        let (slots, count) = self.slots_for_change(kind);
        if at >= count {
            return None;
        }
        // SAFETY: the first `count` slots are valid, and `at` is one of them; exclusive access.
        let taken = unsafe {
            let taken = slots.add(at).read();
            ptr::copy(slots.add(at + 1), slots.add(at), count - at - 1);
            slots.add(count - 1).write(ptr::null_mut());
            taken
        };
        self.set_metalayer_count(kind, count - 1);
        Some(DetachedMetalayer(taken))
    }

    /// Replaces the content of metalayer `at`, and returns the old content.
    ///
    /// # Errors
    /// `NotFound` when there is none.
    pub(in crate::schunk) fn swap_content(
        &mut self,
        kind: MetalayerKind,
        at: usize,
        content: MallocBytes,
    ) -> Result<Option<MallocBytes>> {
        let m = self.metalayer_for_change(kind, at)?;
        let old_len = content_of(m).len();
        let len = content.len();
        let old = std::mem::replace(&mut m.content, content.into_raw());
        m.content_len = len as i32;
        // SAFETY: the rule of `c_struct`: a `malloc` block of that length, which no metalayer owns any more.
        Ok(NonNull::new(old).map(|start| unsafe { MallocBytes::from_raw(start, old_len) }))
    }

    /// Overwrites the first bytes of the content of metalayer `at`; returns the bytes that were there.
    ///
    /// # Errors
    /// `NotFound` when there is no such metalayer, `InvalidParam` when its content is shorter than `bytes`,
    /// `MemoryAlloc`.
    pub(in crate::schunk) fn overwrite_content(
        &mut self,
        kind: MetalayerKind,
        at: usize,
        bytes: &[u8],
    ) -> Result<Vec<u8>> {
        let m = self.metalayer_for_change(kind, at)?;
        let before = match content_of(m).get(..bytes.len()) {
            Some(before) => fallible::copy_of(before)?,
            None => {
                let (len, old_len) = (bytes.len(), content_of(m).len());
                return Err(err!(InvalidParam, "the content has {len} bytes, expected at most {old_len}"));
            }
        };
        if !bytes.is_empty() {
            // SAFETY: the content has as many bytes, as was just checked, so it is not NULL; exclusive access.
            unsafe { m.content.copy_from(bytes.as_ptr(), bytes.len()) };
        }
        Ok(before)
    }

    /// Replaces a whole list. The list is as before after an error.
    ///
    /// # Errors
    /// `MemoryAlloc`, `InvalidParam` for more metalayers than the limit of the list.
    pub(in crate::schunk) fn replace_metalayers(
        &mut self,
        kind: MetalayerKind,
        all: &[OwnedMetalayer],
    ) -> Result<()> {
        ensure!(
            all.len() <= kind.max_count(),
            InvalidParam,
            "{} metalayers, expected at most {}",
            all.len(),
            kind.max_count(),
        );
        let detached =
            |(name, content): &OwnedMetalayer| DetachedMetalayer::new(name, MallocBytes::copy_of(content)?);
        let all = fallible::try_collect(all.iter().map(detached))?;
        self.free_metalayers(kind);
        for (at, metalayer) in all.into_iter().enumerate() {
            self.insert_metalayer(kind, at, metalayer)?;
        }
        Ok(())
    }

    pub(in crate::schunk) fn free_metalayers(&mut self, kind: MetalayerKind) {
        while let Some(last) = self.lock_proof().metalayer_count(kind).checked_sub(1) {
            drop(self.take_metalayer(kind, last));
        }
    }
}

/// A metalayer that is in no list. Owns its memory.
pub(in crate::schunk) struct DetachedMetalayer(*mut blosc2_metalayer);

impl DetachedMetalayer {
    fn new(name: &[u8], content: MallocBytes) -> Result<DetachedMetalayer> {
        let name = MallocBytes::with_nul(name)?;
        // SAFETY: `calloc` accepts any length.
        let place: *mut blosc2_metalayer = unsafe { libc::calloc(1, size_of::<blosc2_metalayer>()) }.cast();
        ensure!(!place.is_null(), MemoryAlloc, "a metalayer");
        let content_len = content.len() as i32;
        let metalayer =
            blosc2_metalayer { name: name.into_raw().cast(), content: content.into_raw(), content_len };
        // SAFETY: a fresh block of that size.
        unsafe { place.write(metalayer) };
        Ok(DetachedMetalayer(place))
    }

    fn into_raw(self) -> *mut blosc2_metalayer {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }
}

impl Drop for DetachedMetalayer {
    fn drop(&mut self) {
        // SAFETY: the metalayer is in no list, so that its blocks are freed once; see the documentation of the module.
        unsafe {
            libc::free((*self.0).name.cast());
            libc::free((*self.0).content.cast());
            libc::free(self.0.cast());
        }
    }
}

fn name_of(m: &blosc2_metalayer) -> &CStr {
    // SAFETY: the rule of `c_struct`: names end with NUL. Only this module creates references to metalayers, always
    // from lists.
    unsafe { CStr::from_ptr(m.name) }
}

fn content_of(m: &blosc2_metalayer) -> &[u8] {
    let len = usize::try_from(m.content_len).unwrap_or(0);
    if m.content.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the rule of `c_struct`: contents have their lengths. Only this module creates references to metalayers,
    // always from lists.
    unsafe { std::slice::from_raw_parts(m.content, len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, error_kind};
    use crate::schunk::storage::Storage;

    fn content(bytes: &[u8]) -> MallocBytes {
        MallocBytes::copy_of(bytes).unwrap()
    }

    fn list(guard: &WriteGuard<'_, SuperChunk>, kind: MetalayerKind) -> Vec<OwnedMetalayer> {
        let all = guard.lock_proof().metalayers(kind);
        all.map(|m| (m.name.to_vec(), m.content.to_vec())).collect()
    }

    #[test]
    fn metalayer_positions_out_of_range_are_rejected() {
        for kind in [MetalayerKind::Fixed, MetalayerKind::Variable] {
            // SAFETY: the default parameters only have pointers to literals.
            let schunk = unsafe { SuperChunk::create(&Storage::default()) }.unwrap();
            let mut guard = WriteGuard::lock(&*schunk).unwrap();
            assert!(guard.take_metalayer(kind, 0).is_none());
            assert_eq!(guard.push_metalayer(kind, b"first", content(b"abc")).unwrap(), 0);
            assert_eq!(guard.push_metalayer(kind, b"second", content(b"")).unwrap(), 1);
            let before = list(&guard, kind);
            for at in [2, 15, kind.max_count(), usize::MAX] {
                assert!(guard.take_metalayer(kind, at).is_none(), "{at}");
                let swapped = guard.swap_content(kind, at, content(b"x"));
                assert_eq!(error_kind(swapped), Some(ErrorKind::NotFound), "{at}");
                assert_eq!(
                    error_kind(guard.overwrite_content(kind, at, b"")),
                    Some(ErrorKind::NotFound),
                    "{at}"
                );
            }
            assert_eq!(error_kind(guard.overwrite_content(kind, 0, b"abcd")), Some(ErrorKind::InvalidParam));
            assert_eq!(error_kind(guard.overwrite_content(kind, 1, b"a")), Some(ErrorKind::InvalidParam));
            let taken = guard.take_metalayer(kind, 0).unwrap();
            assert_eq!(error_kind(guard.insert_metalayer(kind, 2, taken)), Some(ErrorKind::InvalidParam));
            assert_eq!(list(&guard, kind), before[1..]);
        }
    }

    #[test]
    fn more_metalayers_than_the_limit_are_rejected() {
        for kind in [MetalayerKind::Fixed, MetalayerKind::Variable] {
            // SAFETY: the default parameters only have pointers to literals.
            let schunk = unsafe { SuperChunk::create(&Storage::default()) }.unwrap();
            let mut guard = WriteGuard::lock(&*schunk).unwrap();
            for n in 0..kind.max_count() {
                assert_eq!(guard.push_metalayer(kind, n.to_string().as_bytes(), content(b"x")).unwrap(), n);
            }
            let pushed = guard.push_metalayer(kind, b"more", content(b"x"));
            assert_eq!(error_kind(pushed), Some(ErrorKind::InvalidParam));
            let before = list(&guard, kind);
            let more = vec![(b"name".to_vec(), b"content".to_vec()); kind.max_count() + 1];
            assert_eq!(error_kind(guard.replace_metalayers(kind, &more)), Some(ErrorKind::InvalidParam));
            assert_eq!(list(&guard, kind), before);
            guard.replace_metalayers(kind, &more[1..]).unwrap();
            assert_eq!(list(&guard, kind), more[1..]);
            guard.replace_metalayers(kind, &[]).unwrap();
            assert!(list(&guard, kind).is_empty());
        }
    }
}
