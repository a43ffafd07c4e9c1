//! The C `bool` in the structs that foreign code fills.

/// A C `bool` that foreign code may have filled: every non-zero byte is true (`abi.md` 1.2).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CBool(pub u8);

impl CBool {
    /// False.
    pub const FALSE: CBool = CBool(0);
    /// True, as C writes it.
    pub const TRUE: CBool = CBool(1);

    /// The truth of the byte.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for CBool {
    fn from(value: bool) -> Self {
        CBool(value as u8)
    }
}
