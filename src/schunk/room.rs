//! Memory that a thread compresses chunks into, before it is known how long they are.

use crate::error::Result;
use crate::malloc::Malloced;
use crate::malloc::limits::THREAD_BUFFER;
use std::cell::Cell;

thread_local! {
    static KEPT_HERE: Cell<Option<Malloced>> = const { Cell::new(None) };
}

/// Lends `work` memory of `len` bytes, whose content is unspecified. Larger memory than a thread keeps is fresh, and takes up
/// no more than `work` touches of it: of a chunk that becomes short, only the short one.
///
/// # Errors
/// `MemoryAlloc`, and those of `work`.
pub(super) fn with<R>(len: usize, work: impl FnOnce(&mut [u8]) -> Result<R>) -> Result<R> {
    let kept = KEPT_HERE.try_with(Cell::take).ok().flatten().filter(|room| room.len() >= len);
    let mut room = match kept {
        Some(room) => room,
        None => Malloced::zeroed(len)?,
    };
    let result = work(&mut room[..len]);
    if room.len() <= THREAD_BUFFER {
        let _ = KEPT_HERE.try_with(|place| place.set(Some(room)));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_used_again_and_grows() {
        let place = |len| with(len, |room| Ok((room.len(), room.as_ptr() as usize))).unwrap();
        let (len, first) = place(1000);
        assert_eq!(len, 1000);
        assert_eq!(place(10), (10, first));
        assert_eq!(place(5000).0, 5000);
        // A nested use has memory of its own.
        with(5000, |outer| {
            outer.fill(1);
            with(100, |inner| {
                inner.fill(2);
                Ok(())
            })?;
            assert!(outer.iter().all(|&byte| byte == 1));
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn much_is_not_kept() {
        with(THREAD_BUFFER + 1, |room| {
            room[THREAD_BUFFER] = 7;
            Ok(())
        })
        .unwrap();
        assert!(KEPT_HERE.take().is_none());
        assert!(with(usize::MAX / 2, |_| Ok(())).is_err());
    }
}
