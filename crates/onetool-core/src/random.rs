//! Unpredictable random bytes.

/// Returns random bytes from the operating system.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("invariant: the operating system provides random bytes");
    bytes
}
