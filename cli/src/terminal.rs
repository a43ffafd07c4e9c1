//! Messages and progress on stderr.

use crate::output::with_final_names;
use crate::remote::{self, Transfers};
use crate::size::with_unit;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

/// A bar appears when an operation has taken this long.
const BAR_DELAY: Duration = Duration::from_secs(1);
/// Time between two redraws of a bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// The destination of messages and progress.
pub(crate) struct Terminal {
    quiet: bool,
    verbose: bool,
}

impl Terminal {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Terminal {
        Terminal { quiet, verbose }
    }

    /// Returns whether only errors are printed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints an error in one line.
    pub(crate) fn error(&self, message: &str) {
        let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        print_line(&format!("{style}blosc2:{style:#} {}", one_line(&with_final_names(message))));
    }

    /// Prints a warning in one line, unless quiet.
    pub(crate) fn warning(&self, message: &str) {
        if !self.quiet {
            let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
            print_line(&format!("{style}blosc2:{style:#} {}", one_line(message)));
        }
    }

    /// Prints what was done, unless quiet.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            print_line(message);
        }
    }

    /// Prints a detail, if verbose.
    pub(crate) fn detail(&self, message: &str) {
        if self.verbose {
            print_line(message);
        }
    }

    /// Prints what was transferred for URLs, also if quiet.
    pub(crate) fn requests(&self, transfers: &Transfers, as_json: bool) {
        print_line(&match as_json {
            true => serde_json::to_string(transfers).unwrap_or_default(),
            false => transfers.to_string(),
        });
    }

    /// Returns the progress of an operation on `nbytes` bytes, or on an unknown number. It is shown on a terminal only,
    /// and after a second.
    pub(crate) fn progress(&self, label: &str, nbytes: Option<u64>) -> Progress {
        let template = match nbytes {
            Some(_) => {
                "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}{transferred}"
            }
            None => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}{transferred}",
        };
        self.bar(label, nbytes, template)
    }

    /// Returns the progress of an operation on `count` things, as [`progress`](Self::progress).
    pub(crate) fn count_progress(&self, label: &str, count: u64) -> Progress {
        self.bar(label, Some(count), "{msg} {wide_bar} {pos}/{len} {eta}{transferred}")
    }

    /// Returns the progress of reading files whose values are printed: the bytes that are transferred for URLs. On a terminal with the
    /// values, nothing is shown between them.
    pub(crate) fn transfer_progress(&self, paths: &[PathBuf]) -> Progress {
        if std::io::stdout().is_terminal() || !paths.iter().any(|path| remote::is_url(path)) {
            return Progress::none();
        }
        self.bar("reading", None, "{msg} {spinner}{transferred}")
    }

    fn bar(&self, label: &str, len: Option<u64>, template: &str) -> Progress {
        if self.quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("transferred", push_transferred));
        }
        bar.set_message(label.to_owned());
        let shown = bar.downgrade();
        // Without a thread, no bar is shown.
        let _ = std::thread::Builder::new().spawn(move || {
            std::thread::sleep(BAR_DELAY);
            if let Some(bar) = shown.upgrade() {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            // The operation may end meanwhile.
            while let Some(bar) = shown.upgrade() {
                bar.tick();
                drop(bar);
                std::thread::sleep(BAR_INTERVAL);
            }
        });
        Progress(Some(bar))
    }
}

/// The progress of one operation; cleared on drop.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// Returns a progress that is not shown.
    pub(crate) fn none() -> Progress {
        Progress(None)
    }

    /// Adds bytes or things that are done.
    pub(crate) fn add(&self, done: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(done);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Appends the bytes that were transferred for URLs.
fn push_transferred(_: &ProgressState, text: &mut dyn fmt::Write) {
    let nbytes = remote::nbytes();
    if nbytes > 0 {
        // Text is appended to memory.
        let _ = write!(text, ", {} transferred", with_unit(nbytes));
    }
}

/// Returns the text without line breaks.
fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn print_line(line: &str) {
    // Nothing can be reported if stderr is closed.
    let _ = writeln!(anstream::stderr().lock(), "{line}");
}
