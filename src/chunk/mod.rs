//! The chunk format: headers, block starts, streams, special chunks. Pure bytes: no threads, no codecs.
#![forbid(unsafe_code)]
