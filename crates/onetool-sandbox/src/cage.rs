//! What a child may do to the system it runs on: compute, talk over one socket, and nothing else.

use std::collections::BTreeMap;
use std::io;

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetStatus, Scope};
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde::{Deserialize, Serialize};

/// Which walls of the cage this system has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CageReport {
    /// Limits on memory, files, descriptors and core dumps.
    pub rlimits: bool,
    /// The process can never gain privileges.
    pub no_new_privs: bool,
    /// Landlock: no path of the file system can be opened.
    pub landlock: bool,
    /// Seccomp: a system call that computing does not need ends the process.
    pub seccomp: bool,
}

impl CageReport {
    /// Whether every wall stands.
    pub fn is_complete(self) -> bool {
        self.rlimits && self.no_new_privs && self.landlock && self.seccomp
    }

    pub(crate) fn to_bits(self) -> i32 {
        i32::from(self.rlimits)
            | i32::from(self.no_new_privs) << 1
            | i32::from(self.landlock) << 2
            | i32::from(self.seccomp) << 3
    }

    pub(crate) fn from_bits(bits: i32) -> Self {
        let has = |bit: i32| bits & (1 << bit) != 0;
        Self { rlimits: has(0), no_new_privs: has(1), landlock: has(2), seccomp: has(3) }
    }
}

/// The walls around a zygote and its children.
///
/// What both can do without is forbidden in the zygote, once, and a child has that from its start; the rest is forbidden
/// in each child. Filters take the kernel time by their length: that is why a child's own are short.
pub(crate) struct Cage {
    /// What stands around the zygote, and so around every child.
    outer: CageReport,
    /// The filters that a child installs.
    inner: Option<Filters>,
}

/// Filters of system calls, in the order in which they are installed. Of several verdicts the kernel takes the
/// strictest.
type Filters = Vec<BpfProgram>;

impl Cage {
    /// Shuts the zygote in, for good: it can still fork, talk to the gateway and watch its children. What the kernel
    /// lacks is left out and reported.
    pub(crate) fn around_zygote() -> Self {
        let outer = CageReport {
            rlimits: false,
            no_new_privs: rustix::thread::set_no_new_privs(true).is_ok(),
            landlock: close_file_system(),
            seccomp: outer_filters().is_some_and(|filters| install(&filters)),
        };
        Self { outer, inner: inner_filters() }
    }

    /// Shuts this process, a child of the zygote, in for good.
    pub(crate) fn close(&self, address_space: u64) -> CageReport {
        let rlimits = limit_resources(address_space).is_ok();
        let is_filtered = self.inner.as_ref().is_some_and(|filters| install(filters));
        CageReport { rlimits, seccomp: self.outer.seccomp && is_filtered, ..self.outer }
    }
}

fn install(filters: &[BpfProgram]) -> bool {
    filters.iter().all(|filter| seccompiler::apply_filter(&for_this_process(filter)).is_ok())
}

fn limit_resources(address_space: u64) -> io::Result<()> {
    let set = |resource, value| setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    set(Resource::As, address_space)?;
    set(Resource::Core, 0)?;
    set(Resource::Fsize, 0)?;
    // About what is open already: those keep working. (At 0 `poll` would refuse to wait on any.) The number of
    // processes needs no limit: only threads can be made, and each takes of the memory.
    set(Resource::Nofile, 8)?;
    Ok(())
}

fn close_file_system() -> bool {
    let abi = ABI::V6;
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(abi))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(abi)))
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    restricted.is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
}

/// What holds for the zygote and its children: no system call ends well that neither of them needs.
fn outer_filters() -> Option<Filters> {
    let calls = ALLOWED.iter().chain(PROBES).chain(OF_ZYGOTE).chain([&libc::SYS_clone3]);
    let mut rules: Rules = calls.map(|call| (*call, Vec::new())).collect();
    for call in [libc::SYS_clone, libc::SYS_tgkill, libc::SYS_prctl] {
        rules.insert(call, Vec::new());
    }
    // No memory that can be executed.
    let executable = libc::PROT_EXEC.cast_unsigned().into();
    rules.insert(libc::SYS_mmap, vec![masked(2, executable, 0)?]);
    rules.insert(libc::SYS_mprotect, vec![masked(2, executable, 0)?]);
    Some(vec![
        // Its flags lie in memory, where no filter can see them; libc then falls back to `clone`.
        filter(
            BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
            SeccompAction::Allow,
            SeccompAction::Errno(libc::ENOSYS.cast_unsigned()),
        )?,
        filter(rules, SeccompAction::KillProcess, SeccompAction::Allow)?,
    ])
}

/// What holds for a child besides: of what the zygote needs, nothing is left. Calls with which libraries only probe the
/// file system fail with "permission denied", so that the library goes on; the others end the process.
fn inner_filters() -> Option<Filters> {
    let probes = PROBES.iter().map(|call| (*call, Vec::new())).collect();
    let mut forbidden: Rules = OF_ZYGOTE.iter().map(|call| (*call, Vec::new())).collect();
    // Threads, but no processes: `clone` must have every mark of a thread of this process.
    let marks = [libc::CLONE_VM, libc::CLONE_THREAD, libc::CLONE_SIGHAND];
    let lacks = marks.iter().map(|mark| masked(0, mark.cast_unsigned().into(), 0));
    forbidden.insert(libc::SYS_clone, lacks.collect::<Option<_>>()?);
    // Nothing of itself but the names of threads.
    forbidden.insert(libc::SYS_prctl, vec![differs(libc::PR_SET_NAME.cast_unsigned())?]);
    // Signals to itself alone: that is how `abort` ends a process.
    forbidden.insert(libc::SYS_tgkill, vec![differs(OWN_PROCESS)?]);
    Some(vec![
        filter(probes, SeccompAction::Allow, SeccompAction::Errno(libc::EACCES.cast_unsigned()))?,
        filter(forbidden, SeccompAction::Allow, SeccompAction::KillProcess)?,
    ])
}

/// Conditions by system call, of which one must hold; none means always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn filter(rules: Rules, otherwise: SeccompAction, verdict: SeccompAction) -> Option<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into().ok()?;
    SeccompFilter::new(rules, otherwise, verdict, arch).ok()?.try_into().ok()
}

/// Stands in the filters for the id of the process that they are installed in.
const OWN_PROCESS: u32 = 0x7fff_0137;

/// Puts this process's id into a filter that was made in the zygote.
fn for_this_process(filter: &BpfProgram) -> BpfProgram {
    let mut filter = filter.clone();
    for instruction in filter.iter_mut().filter(|instruction| instruction.k == OWN_PROCESS) {
        instruction.k = std::process::id();
    }
    filter
}

fn masked(argument: u8, mask: u64, value: u64) -> Option<SeccompRule> {
    let condition =
        SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value).ok()?;
    SeccompRule::new(vec![condition]).ok()
}

/// Holds when the first argument is not `value`.
fn differs(value: u32) -> Option<SeccompRule> {
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into()).ok()?;
    SeccompRule::new(vec![condition]).ok()
}

/// What computing, waiting and talking over open descriptors need.
const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_sendto,
    libc::SYS_ppoll,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];

/// What the zygote needs to fork a child and to watch it, and a child on its way into the cage.
const OF_ZYGOTE: &[i64] = &[
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_pidfd_open,
    libc::SYS_wait4,
    libc::SYS_kill,
    libc::SYS_getppid,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_seccomp,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_dup2,
];

/// What libraries try on the side: time zones, the number of processors, memory settings.
const PROBES: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_faccessat,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_prlimit64,
    libc::SYS_uname,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_sysinfo,
    libc::SYS_ioctl,
    libc::SYS_fcntl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
];

#[cfg(test)]
mod tests;
