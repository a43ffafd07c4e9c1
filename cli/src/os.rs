//! Functions of the command that differ between systems: files that no other user can read, interrupts, and stdout as a file.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

/// Lets no other user read in the directories that `builder` creates.
pub(crate) fn make_private(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    // A user's folder for temporary files is private.
    #[cfg(not(unix))]
    let _ = builder;
}

/// Creates a file, which no other user can read if `is_private`.
pub(crate) fn create_new_file(path: &Path, is_private: bool) -> io::Result<File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_private { 0o600 } else { 0o666 });
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(path)
}

/// Returns the permissions of a copy that this process writes to.
pub(crate) fn writable(permissions: Permissions) -> Permissions {
    let mut permissions = permissions;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        permissions.set_mode(permissions.mode() & 0o777 | 0o600);
    }
    #[cfg(not(unix))]
    #[allow(
        clippy::permissions_set_readonly_false,
        reason = "Windows has no permissions of other users here"
    )]
    permissions.set_readonly(false);
    permissions
}

/// Calls `clean_up` at an interrupt (Ctrl-C, SIGTERM, SIGHUP), and ends the process, by the signal if it is one, while the
/// result exists. Without a handler, an interrupt ends the process at once.
pub(crate) fn on_interrupt<G>(clean_up: impl Fn() -> G + Send + 'static) {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use signal_hook::low_level::emulate_default_handler;
        let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else { return };
        let wait = move || {
            for signal in signals.forever() {
                let _guard = clean_up();
                let _ = emulate_default_handler(signal);
            }
        };
        let _ = std::thread::Builder::new().spawn(wait);
    }
    #[cfg(windows)]
    {
        let handler = move || {
            let _guard = clean_up();
            // As a shell reports the end by SIGINT.
            std::process::exit(130);
        };
        let _ = ctrlc::set_handler(handler);
    }
    #[cfg(not(any(unix, windows)))]
    drop(clean_up);
}

/// Waits until the content of a file survives a loss of power.
pub(crate) fn sync_file(path: &Path) -> io::Result<()> {
    // Windows synchronises only files that are open for writing, which permissions may forbid elsewhere.
    File::options().read(true).write(cfg!(windows)).open(path)?.sync_all()
}

/// Waits until the names in a directory survive a loss of power.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return File::open(path)?.sync_all();
    // Windows has no such call.
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

/// Returns stdout as a file of its own.
pub(crate) fn stdout_file() -> io::Result<File> {
    #[cfg(any(unix, target_os = "wasi"))]
    return Ok(std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned()?.into());
    #[cfg(windows)]
    return Ok(std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned()?.into());
}

/// Returns the limit for the address space of the process in bytes (`ulimit -v`), if the system states one.
pub(crate) fn address_space_limit() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}
