//! Decodes a whole chunk without keeping its content, to check it.

use super::super::jobs;
use super::super::params::DecompressParams;
use super::super::scratch::Scratch;
use super::super::workload::WorkKind;
use super::plan::DecodePlan;
use super::uncoded::UncodedContent;
use crate::chunk::ParsedChunk;
use crate::error::Result;

/// Size, in bytes, of the part of a special chunk that is made to check its kind: the longest item that a kind has a
/// rule for.
const SPECIAL_SAMPLE_LEN: usize = 8;

/// Decodes every block of `chunk` into working memory. Succeeds exactly if [`decompress`](super::decompress) does, but
/// needs memory for one block per thread instead of the whole content. Masks and postfilters are ignored.
pub(crate) fn check_content(params: &DecompressParams<'_>, chunk: &ParsedChunk<'_>) -> Result<()> {
    let params = DecompressParams { mask: None, postfilter: None, ..*params };
    DecodePlan::open(chunk, &params, |plan| match plan.uncoded_content() {
        // `open` has checked that the content has its full length.
        Some(UncodedContent::Memcpyed(_)) => Ok(()),
        Some(content @ UncodedContent::Special { .. }) => {
            let mut sample = [0; SPECIAL_SAMPLE_LEN];
            let len = plan.header().nbytes().min(SPECIAL_SAMPLE_LEN);
            content.read(0, (&mut sample[..len]).into())
        }
        None => check_blocks(plan),
    })
}

fn check_blocks(plan: &DecodePlan<'_>) -> Result<()> {
    let load = plan.workload(WorkKind::Decode(plan.header().codec_format()), plan.header().nbytes());
    let reference = if plan.needs_first_block() { Some(plan.decode_reference_block()?) } else { None };
    let first = usize::from(reference.is_some());
    jobs::for_each_block(&load, first..plan.nblocks(), |nblock, worker| {
        let Scratch { block_scratch, decoded_block } = &mut *worker.scratch;
        let block = decoded_block.get(plan.block_range(nblock).len())?;
        plan.decode_block(nblock, worker.tid, block_scratch, block, reference.as_deref())
    })
}
