//! One module for each verb.

pub(crate) mod append;
pub(crate) mod bench;
pub(crate) mod cat;
pub(crate) mod compress;
pub(crate) mod decompress;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod meta;
pub(crate) mod recompress;
pub(crate) mod repair;
pub(crate) mod slice;
pub(crate) mod verify;
