//! The applied layers, as the kernel reports them.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use onetool_cage::CageReport;
use serde_json::json;

/// A waiting caged process, and its parent, which moved it into its namespaces.
struct Caged {
    parent: Child,
    pid: u32,
    report: String,
}

impl Caged {
    fn start() -> Self {
        let mut parent = Command::new(env!("CARGO_BIN_EXE_onetool-cage-probe"))
            .arg("wait")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.id())).unwrap();
        let pid = children.trim().parse().unwrap_or(parent.id());
        Self { parent, pid, report: line.trim().to_owned() }
    }

    /// Returns a field of `/proc/PID/status`.
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
        // The process ends when its input ends.
        drop(self.parent.stdin.take());
        let _ = self.parent.wait();
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
        let ours = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        assert_ne!(caged.namespace(kind), ours, "{kind}");
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
    assert_eq!(report("partial").gaps(), ["all of Landlock (the kernel supports an older version)"]);
}
