//! Results that threads make ahead of their consumer.

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, JoinHandle};

/// The contents of the chunks of a super-chunk or an array, in order, which threads decompress ahead of the caller.
///
/// See [`SuperChunk::prefetch_contents`](crate::SuperChunk::prefetch_contents) and
/// [`Array::prefetch_chunks`](crate::Array::prefetch_chunks). The threads end when the value is dropped.
///
/// ```
/// let mut schunk = blosc2::SuperChunk::new(&blosc2::Params::new())?;
/// schunk.append(&[1; 8000])?;
/// schunk.append(&[2; 4000])?;
/// let mut contents = schunk.prefetch_contents(2)?;
/// assert_eq!(contents.len(), 2);
/// assert_eq!(contents.next().transpose()?, Some(vec![1; 8000]));
/// # Ok::<(), blosc2::Error>(())
/// ```
pub struct Prefetch<'a, R> {
    /// Thread `n` makes the results `n`, `n + threads` and so on.
    receivers: Vec<Receiver<Result<R>>>,
    threads: Vec<JoinHandle<()>>,
    next: u64,
    count: u64,
    /// The borrow that excludes changes meanwhile.
    source: PhantomData<&'a ()>,
}

impl<R> fmt::Debug for Prefetch<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefetch")
            .field("next", &self.next)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

/// Starts threads that make the results 0 to `count - 1`.
pub(crate) fn start<'a, R: Send + 'static>(
    threads: usize,
    count: u64,
    make: impl Fn(u64) -> Result<R> + Send + Sync + 'static,
) -> Result<Prefetch<'a, R>> {
    if threads == 0 {
        return Err(Error::param("0 threads, expected at least 1".to_owned()));
    }
    let make = Arc::new(make);
    let mut started =
        Prefetch { receivers: Vec::new(), threads: Vec::new(), next: 0, count, source: PhantomData };
    let threads = threads.min(usize::try_from(count).unwrap_or(usize::MAX));
    for first in 0..threads as u64 {
        let (sender, receiver) = sync_channel(1);
        let make = make.clone();
        let work = move || {
            // Sending fails once the consumer is dropped.
            let _ = (first..count).step_by(threads).try_for_each(|n| sender.send(make(n)));
        };
        let thread =
            thread::Builder::new().name("blosc2-prefetch".to_owned()).spawn(work).map_err(|error| {
                Error::with_cause(
                    ErrorKind::ThreadCreate,
                    "a thread that reads ahead".to_owned(),
                    error.kind(),
                )
            })?;
        started.threads.push(thread);
        started.receivers.push(receiver);
    }
    Ok(started)
}

impl<R> Iterator for Prefetch<'_, R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if self.next == self.count {
            return None;
        }
        let receiver = &self.receivers[(self.next % self.receivers.len() as u64) as usize];
        self.next += 1;
        let panicked =
            |_| Error::new(ErrorKind::Failure, "a thread that reads ahead has panicked".to_owned());
        Some(receiver.recv().map_err(panicked).flatten())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.count - self.next).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl<R> ExactSizeIterator for Prefetch<'_, R> {}

impl<R> FusedIterator for Prefetch<'_, R> {}

impl<R> Drop for Prefetch<'_, R> {
    fn drop(&mut self) {
        self.receivers.clear();
        for thread in self.threads.drain(..) {
            // A panic has been returned as an error already, or its result is not used.
            let _ = thread.join();
        }
    }
}
