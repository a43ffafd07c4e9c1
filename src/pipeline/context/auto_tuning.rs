//! The automatic tuner of a context: its choice for a chunk.

use super::super::compress::plan;
use super::Context;
use crate::chunk::format::MAX_FILTERS;

impl Context {
    /// Returns the block size in bytes that the caller has requested, 0 for an automatic one, if the context has the
    /// automatic tuner: the head has what was chosen for the last chunk.
    pub(crate) fn requested_blocksize_with_auto_tuner(&self) -> Option<i32> {
        self.auto_tuner.as_ref().map(|_| self.requested_blocksize)
    }

    /// Has the automatic tuner, if there is one, choose codec, level and filters for `content`. The block size becomes the one
    /// that the caller has requested, or an automatic one.
    pub(super) fn tune_automatically(&self, content: &[u8]) {
        let Some(mut tuner) = self.auto_tuner.as_ref().and_then(|tuner| tuner.try_borrow_mut().ok()) else {
            return;
        };
        let typesize = plan::stored_typesize(self.head.typesize()).max(1) as usize;
        let blocksize = usize::try_from(self.requested_blocksize).unwrap_or(0);
        if let Some(choice) = tuner.choose(content, typesize, blocksize) {
            self.head.set_compcode(i32::from(choice.compcode));
            self.head.set_clevel(i32::from(choice.clevel));
            self.head.set_filters(choice.chain.filters());
            self.head.set_filters_meta([0; MAX_FILTERS]);
            self.head.set_blocksize(self.requested_blocksize);
        }
    }
}
