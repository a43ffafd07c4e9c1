//! The verbs for arrays: `import`, `export`, `cat`, `slice` and `diff`, by running the command.

mod diff;
mod errors;
mod round_trips;
mod support;
mod text;
