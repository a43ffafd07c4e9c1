//! The records of chunks that a frame has read last.

use crate::error::Result;
use crate::fallible;
use crate::fork_count::PerProcessLock;
use crate::frame::format::units::UnitChecks;
use std::sync::Arc;

/// Maximum number of chunks of which a frame keeps the records that it has read. A record has 16 KiB for a chunk of 16 MiB.
const MAX_KEPT_RECORDS: usize = 64;

/// The records that a frame has read last, with the locations of their chunks.
#[derive(Default)]
pub(super) struct KeptUnits(PerProcessLock<Vec<(i64, Arc<UnitChecks>)>>);

impl KeptUnits {
    /// Returns the checks of the chunk at `location` with the checksum `expected`.
    pub(super) fn get(&self, location: i64, expected: u32) -> Option<Arc<UnitChecks>> {
        let kept = self.0.read();
        let found = kept.iter().find(|(at, units)| *at == location && units.chunk_checksum == expected);
        found.map(|(_, units)| units.clone())
    }

    /// Keeps the checks of the chunk at `location`. Returns them.
    pub(super) fn add(&self, location: i64, units: UnitChecks) -> Result<Arc<UnitChecks>> {
        let units = Arc::new(units);
        let mut kept = self.0.write();
        kept.retain(|(at, _)| *at != location);
        if kept.len() == MAX_KEPT_RECORDS {
            kept.remove(0);
        }
        fallible::push(&mut kept, (location, units.clone()))?;
        Ok(units)
    }
}
