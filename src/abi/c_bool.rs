//! The C `bool` in structs that C code fills in.

/// A C `bool` that C code may have written: every non-zero byte is true (`abi.md` 1.2).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CBool(pub u8);

impl CBool {
    /// False.
    pub const FALSE: CBool = CBool(0);
    /// True, as C compilers store it.
    pub const TRUE: CBool = CBool(1);

    /// Returns whether the byte is non-zero.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for CBool {
    fn from(value: bool) -> Self {
        CBool(value as u8)
    }
}
