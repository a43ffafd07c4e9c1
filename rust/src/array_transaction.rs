//! Several changes of an array as one.

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::Result;
use crate::super_chunk::Bracket;
use blosc2_core::rust_api::array::ArrayHandle;
use std::sync::Arc;

impl AnyArray {
    /// Makes several changes as one: see [`SuperChunk::transaction`](crate::SuperChunk::transaction).
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("rows.b2nd");
    /// use blosc2::Array;
    ///
    /// let mut array = Array::<u8>::builder([2, 3]).create_from(&path, &[1, 2, 3, 4, 5, 6])?.into_any();
    /// array.transaction(|array| {
    ///     array.resize(&[3, 3])?;
    ///     array.write_bytes((2, ..), &[7, 8, 9])
    /// })?;
    /// assert_eq!(array.read_bytes((2, ..))?, [7, 8, 9]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `changes`; `Lock`; those of writing.
    pub fn transaction<R>(&mut self, changes: impl FnOnce(&mut AnyArray) -> Result<R>) -> Result<R> {
        run(self, |array| array, changes)
    }
}

impl<T: Element> Array<T> {
    /// Makes several changes as one: see [`SuperChunk::transaction`](crate::SuperChunk::transaction).
    ///
    /// ```
    /// let mut array = blosc2::Array::<u8>::builder([2]).in_memory_from(&[1, 2])?;
    /// let done = array.transaction(|array| {
    ///     array.set(&[0], 7)?;
    ///     array.set(&[5], 8) // outside the array
    /// });
    /// assert!(done.is_err());
    /// assert_eq!(array.read(..)?, [1, 2]);
    /// # Ok::<(), blosc2::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyArray::transaction`].
    pub fn transaction<R>(&mut self, changes: impl FnOnce(&mut Array<T>) -> Result<R>) -> Result<R> {
        run(self, Array::as_any_mut, changes)
    }
}

fn run<A, R>(
    array: &mut A,
    any: fn(&mut A) -> &mut AnyArray,
    changes: impl FnOnce(&mut A) -> Result<R>,
) -> Result<R> {
    let core = Arc::clone(any(array).core_to_change()?);
    let schunk = core.schunk()?;
    schunk.lock()?;
    let bracket = Bracket(schunk);
    let mut end = End { array, any, before: None };
    let result = if schunk.has_transactions() {
        schunk.transaction(|| changes(end.array))
    } else {
        end.before = Some((end.any)(end.array).copy_in_memory()?);
        let result = changes(end.array);
        if result.is_ok() {
            end.before = None;
        }
        result
    };
    let ended = bracket.end();
    drop(end);
    let result = result?;
    ended?;
    Ok(result)
}

/// The end of a transaction, also by a panic: an array in memory is that from before if the changes have failed, and the shape is
/// read again.
struct End<'a, A> {
    array: &'a mut A,
    any: fn(&mut A) -> &mut AnyArray,
    before: Option<ArrayHandle>,
}

impl<A> Drop for End<'_, A> {
    fn drop(&mut self) {
        (self.any)(self.array).end_transaction(self.before.take());
    }
}
