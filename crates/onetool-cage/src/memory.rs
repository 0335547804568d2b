//! The memory of this system, and the process that the kernel kills first when it runs out.

use std::fs;
use std::path::Path;

/// Returns the memory available to this process in bytes: the machine's memory, or the limit of its control group.
pub fn total_memory() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| machine_memory(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group_limit);
    limits.chain(machine).min().unwrap_or(DEFAULT)
}

/// Assumed memory if the system does not report it.
const DEFAULT: u64 = 2 << 30;

/// Parses `MemTotal: 16384 kB`.
fn machine_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Reads the memory limit of a control group from its line in `/proc/self/cgroup`: `0::/path` (version 2) or
/// `4:memory:/path` (version 1).
fn group_limit(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    // In a container, the path is often the host's, and the limit is at the root.
    let groups = Path::new(path).ancestors().map(|group| Path::new(root).join(group).join(file));
    groups.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// Makes the kernel kill this process and its children before others when memory runs out.
pub fn raise_oom_score() {
    // Raising the score needs no privileges, and nothing depends on its success.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_memory_is_parsed() {
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
