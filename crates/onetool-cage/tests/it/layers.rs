//! Which layers are in place, as the kernel itself sees them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use onetool_cage::CageReport;
use serde_json::json;

/// A caged process that waits, and the process in front of it.
struct Caged {
    front: Child,
    pid: u32,
    report: String,
}

impl Caged {
    fn start() -> Self {
        let mut front = Command::new(env!("CARGO_BIN_EXE_onetool-cage-probe"))
            .arg("wait")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(front.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", front.id())).unwrap();
        let pid = children.trim().parse().unwrap_or(front.id());
        Self { front, pid, report: line.trim().to_owned() }
    }

    /// Reads a line of the kernel's description of the process.
    fn status(&self, key: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {key}")).trim().to_owned()
    }

    fn namespace(&self, kind: &str) -> std::path::PathBuf {
        fs::read_link(format!("/proc/{}/ns/{kind}", self.pid)).unwrap()
    }
}

impl Drop for Caged {
    fn drop(&mut self) {
        // The end of its input ends it.
        drop(self.front.stdin.take());
        let _ = self.front.wait();
    }
}

#[test]
fn cage_5_every_layer_is_in_place() {
    let caged = Caged::start();
    let layers = ["rlimits", "no_new_privs", "capabilities", "namespaces", "landlock", "seccomp"];
    let applied = layers.map(|layer| format!("{layer}: Applied")).join(", ");
    assert_eq!(caged.report, format!("CageReport {{ {applied} }}"));
    assert_eq!(caged.status("Seccomp"), "2");
    assert_eq!(caged.status("NoNewPrivs"), "1");
}

#[test]
fn cage_3_a_caged_process_has_no_capabilities_even_as_root() {
    let caged = Caged::start();
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(u64::from_str_radix(&caged.status(set), 16), Ok(0), "{set}");
    }
}

#[test]
fn cage_3_a_caged_process_has_its_own_user_process_and_network_namespaces() {
    let caged = Caged::start();
    for kind in ["user", "pid", "net", "ipc"] {
        let own = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        assert_ne!(caged.namespace(kind), own, "{kind}");
    }
    assert_eq!(caged.status("NSpid").split_whitespace().last(), Some("1"));
}

#[test]
fn cage_2_a_partial_layer_is_not_a_complete_cage() {
    let report = |landlock: &str| -> CageReport {
        let applied = "applied";
        serde_json::from_value(json!({
            "rlimits": applied, "no_new_privs": applied, "capabilities": applied, "namespaces": "missing",
            "landlock": landlock, "seccomp": applied,
        }))
        .unwrap()
    };
    assert!(report("applied").is_complete(), "namespaces are not required");
    assert_eq!(report("missing").gaps(), ["Landlock"]);
    assert_eq!(report("partial").gaps(), ["all of Landlock (the kernel has an older version)"]);
}
