//! Contexts, and the conversion of a buffer to blocks, streams and a chunk, and back (`chunk.md` 3 to 6).
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | initialisation state, and the settings of functions without a context |
//! | [`env_overrides`] | parameters set by environment variables |
//! | [`context`], [`contextless`] | contexts; the functions without one |
//! | [`head`], [`raw_box`] | the part of a context that C code accesses; memory that C code has pointers to |
//! | [`tuner`], [`auto_tuner`], [`tuner_selection`] | the tuner hooks; the tuner that chooses by features of the data; the contexts that have it |
//! | [`params`] | the snapshot of parameters that a job works with |
//! | [`container`] | the properties of a context's super-chunk that codecs and filters need |
//! | [`block_size`] | block size and split decisions |
//! | [`compress`] | source -> plan -> blocks -> chunk |
//! | [`decompress`] | chunk -> plan -> blocks -> bytes; items; variable-length blocks |
//! | [`filters`] | the filter slots, forwards and backwards |
//! | [`callbacks`] | the caller's codecs, filters, pre- and postfilters |
//! | [`workload`] | how many threads work on a call |
//! | [`jobs`], [`shared_output`], [`scratch`] | one work item per block, its output, its working memory |

pub(crate) mod auto_tuner;
pub(crate) mod block_size;
pub(crate) mod callbacks;
pub(crate) mod compress;
pub(crate) mod container;
pub(crate) mod context;
pub(crate) mod contextless;
pub(crate) mod decompress;
pub(crate) mod env_overrides;
pub(crate) mod filters;
pub(crate) mod head;
pub(crate) mod jobs;
pub(crate) mod library;
pub(crate) mod params;
pub(crate) mod raw_box;
pub(crate) mod scratch;
pub(crate) mod shared_output;
pub(crate) mod tuner;
pub(crate) mod tuner_selection;
pub(crate) mod workload;
