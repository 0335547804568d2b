//! How much memory this system has, and which process the kernel takes it from first.

use std::fs;
use std::path::Path;

/// Returns how many bytes of memory this process may use: what the machine has, or what its control group allows.
pub fn total_memory() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| machine_memory(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group_limit);
    limits.chain(machine).min().unwrap_or(DEFAULT)
}

/// What is assumed where the system does not say.
const DEFAULT: u64 = 2 << 30;

/// Reads `MemTotal: 16384 kB`.
fn machine_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Reads the limit of a control group from its line: `0::/path` (version 2) or `4:memory:/path` (version 1).
fn group_limit(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    // Inside a container the path is often that of the host, and the limit is at the root.
    let groups = Path::new(path).ancestors().map(|group| Path::new(root).join(group).join(file));
    groups.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// Has the kernel end this process, and those that it starts, before others when memory runs out.
pub fn be_first_to_go() {
    // Raising the score needs no privilege; where it cannot be written, nothing else depends on it.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        assert_eq!(machine_memory("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16384 * 1024));
        assert_eq!(machine_memory("MemFree: 1 kB\n"), None);
        assert!(total_memory() > 64 << 20);
    }

    #[test]
    fn lines_of_other_controllers_have_no_limit() {
        for line in ["", "1:cpu:/a", "memory", "x:y"] {
            assert_eq!(group_limit(line), None, "{line}");
        }
    }
}
