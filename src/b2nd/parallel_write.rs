//! Writing boxes of items from several threads at a time: each call compresses its chunks without a lock, and then stores
//! them together.

use super::array::Array;
use super::geometry::Geometry;
use super::slices::BoxPatch;
use super::transfer::Transfer;
use crate::error::{Result, to_failure_unless_lock};
use crate::schunk::patched_chunk::PreparedChunk;

/// Upper limit for the memory of the chunks that one call has compressed and not stored, in bytes. Chunks beyond it are
/// compressed while the call has the locks of a write. Twelve chunks of 4 MiB of noise, the default size of the Rust API,
/// with their old content, are below it.
const MAX_PREPARED: usize = 100 << 20;

impl Array {
    /// As [`set_box`](Self::set_box), for calls by several threads: chunks are compressed by contexts of their own, and no
    /// lock is held meanwhile. A chunk of which a part is written, and that another thread changes at the same time, is
    /// compressed again.
    ///
    /// # Errors
    /// As [`set_box`](Self::set_box).
    pub(crate) fn set_box_in_parallel(
        &self,
        start: &[i64],
        stop: &[i64],
        buffershape: &[i64],
        src: &[u8],
    ) -> Result<()> {
        self.refresh()?;
        let geometry = self.geometry();
        if geometry.ndim() == 0 {
            return self.set_box(start, stop, buffershape, src);
        }
        // The write below finds the same errors.
        let prepared = Transfer::new(&geometry, start, stop, buffershape, src.len())
            .and_then(|transfer| transfer.map_or(Ok(Vec::new()), |transfer| self.prepare(&transfer, src)))
            .unwrap_or_default();
        self.with_shape_lock(|locked| {
            let now: &Geometry = &self.geometry();
            if now.shape() != geometry.shape() {
                // The items are in other chunks.
                return locked.write_box(start, stop, buffershape, src);
            }
            let Some(transfer) = Transfer::new(now, start, stop, buffershape, src.len())? else {
                return Ok(());
            };
            let mut prepared = prepared.into_iter();
            locked.write_parts(&transfer, src, |schunk| match prepared.next() {
                Some(chunk) => schunk.store_prepared_chunk(chunk),
                None => Ok(false),
            })
        })
    }

    /// Compresses chunks of a box, from the first one on, up to [`MAX_PREPARED`].
    fn prepare(&self, transfer: &Transfer<'_>, src: &[u8]) -> Result<Vec<PreparedChunk>> {
        let schunk = self.schunk()?;
        let sizes = transfer.chunk_and_block_nbytes()?;
        let mut chunks = transfer.geometry.chunks_of_box(transfer.start, transfer.stop);
        let (mut prepared, mut memory) = (Vec::new(), 0);
        schunk.with_new_context(|context| {
            for _ in 0..transfer.chunks_to_transfer(&chunks) {
                let Some(part) = chunks.next_part().filter(|_| memory < MAX_PREPARED) else { break };
                let patch = BoxPatch::new(transfer, part, src);
                let keeps = patch.keeps_items();
                let chunk = schunk
                    .prepare_patched_chunk(context, part.number, sizes, &patch, keeps)
                    .map_err(to_failure_unless_lock)?;
                memory += chunk.memory();
                prepared.push(chunk);
            }
            Ok(())
        })?;
        Ok(prepared)
    }
}
