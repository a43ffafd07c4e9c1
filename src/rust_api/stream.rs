//! Frames that are written to, and read from, any stream.
