//! Byte shuffles that repeat a period of up to 15 bytes.

/// By period: the offset in the period of each of 32 bytes, of one register of AVX2 or two of NEON.
pub(super) static PERIOD_SHUFFLES: [[u8; 32]; 16] = {
    let mut periods = [[0; 32]; 16];
    let mut distance = 1;
    while distance < 16 {
        let mut i = 0;
        while i < 32 {
            periods[distance][i] = (i % distance) as u8;
            i += 1;
        }
        distance += 1;
    }
    periods
};

/// By period: the number of bytes of whole periods in 32 bytes. A table, since a division takes longer than the copy.
pub(super) static WHOLE_PERIODS_LEN: [u8; 16] = {
    let mut whole = [32; 16];
    let mut distance = 1;
    while distance < 16 {
        whole[distance] = (32 - 32 % distance) as u8;
        distance += 1;
    }
    whole
};
