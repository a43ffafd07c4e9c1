//! Arguments for files that are written, and for threads.

use crate::os::address_space_limit;
use blosc2::Durability;
use clap::{Args, ValueEnum};

/// Durability of the files that are written.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DurabilityArguments {
    /// Events after which the new file is whole
    #[arg(
        long,
        value_name = "LEVEL",
        env = "BLOSC2_DURABILITY",
        hide_env_values = true,
        default_value = "kill"
    )]
    pub durability: DurabilityLevel,
}

/// The durability of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityLevel {
    /// Nothing is guaranteed while it is written
    Off,
    /// The end of the command at any moment
    Kill,
    /// Also a loss of power
    Power,
}

impl DurabilityArguments {
    /// Returns the level for the library.
    pub(crate) fn level(&self) -> Durability {
        match self.durability {
            DurabilityLevel::Off => Durability::Off,
            DurabilityLevel::Kill => Durability::Kill,
            DurabilityLevel::Power => Durability::Power,
        }
    }

    /// Returns whether a new file must survive a loss of power.
    pub(crate) fn survives_power_loss(&self) -> bool {
        self.durability == DurabilityLevel::Power
    }
}

/// Number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ThreadArguments {
    /// Number of threads [default: number of processors]
    #[arg(
        short = 'T', long, env = "BLOSC_NTHREADS", hide_env_values = true,
        value_parser = clap::value_parser!(u16).range(1..=32767)
    )]
    pub threads: Option<u16>,
}

/// Address space in bytes for one thread: its stack of 2 MiB, memory for its blocks, and 128 MiB in which glibc places an arena
/// for the thread. With less, the standard library ends the process when a small allocation fails
/// (`ulimit -v 50000; blosc2 compress -T 2000 --blocksize 1K`).
const THREAD_NBYTES: u64 = 160 << 20;

impl ThreadArguments {
    /// Returns the number of threads, at most as many as fit into the address space of the process.
    pub(crate) fn count(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let count = self.threads.map_or_else(processors, usize::from);
        let most = address_space_limit().map_or(u64::MAX, |limit| limit / THREAD_NBYTES);
        count.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }
}

/// Treatment of existing files.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FileArguments {
    /// Overwrite existing files, write into devices and pipes, and write binary data to a terminal
    #[arg(short, long, short_alias = 'F')]
    pub force: bool,
    /// Also the files in directories, and in the directories in them: all for `compress`, those with the extension b2frame
    /// for `decompress`
    #[arg(short, long)]
    pub recursive: bool,
    /// Print the files that would be written, and write none
    #[arg(long)]
    pub dry_run: bool,
    /// Keep the input (the default)
    #[arg(short, long, conflicts_with = "rm")]
    pub keep: bool,
    /// Remove the input after success
    #[arg(long)]
    pub rm: bool,
    #[command(flatten)]
    pub durability: DurabilityArguments,
}

/// Holes in the files that are written.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SparseArguments {
    /// Write zeros to the disk, instead of holes in the file, which need no place there
    #[arg(long)]
    pub no_sparse: bool,
}
