//! Damaged chunks: an error or some content; no access outside of the buffers, no signal, no hang (blosc1.md 7, 12.6).
//!
//! | module | contents |
//! |---|---|
//! | `lengths` | BloscLZ streams whose lengths overflow 32 bits |
//! | `mutants` | mutated chunks, with sources and destinations beside inaccessible pages |

mod lengths;
mod mutants;
#[path = "../support/mod.rs"]
mod support;
