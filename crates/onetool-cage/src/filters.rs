//! Seccomp filters: the system calls that a caged process may make.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Filters in order of installation. The kernel applies the strictest verdict.
pub(crate) struct Filters(Vec<BpfProgram>);

impl Filters {
    /// Returns the filters of a process that forks caged children. They kill it on any system call that neither it nor
    /// its children need.
    ///
    /// Children inherit these filters. The cost of a filter grows with its length, so the long ones are installed once,
    /// here, and those of a child are short.
    pub(crate) fn outer() -> Result<Self, FilterError> {
        let calls = COMPUTE.iter().chain(PROBES).chain(SUPERVISE).chain([&libc::SYS_clone3]);
        let mut rules: Rules = calls.map(|call| (*call, Vec::new())).collect();
        for call in [libc::SYS_clone, libc::SYS_tgkill, libc::SYS_prctl] {
            rules.insert(call, Vec::new());
        }
        // No memory can be made executable.
        let executable = libc::PROT_EXEC.cast_unsigned().into();
        rules.insert(libc::SYS_mmap, vec![masked(2, executable, 0)?]);
        rules.insert(libc::SYS_mprotect, vec![masked(2, executable, 0)?]);
        Ok(Self(vec![
            // The flags of `clone3` are in memory, where filters cannot check them. libc falls back to `clone`.
            filter(
                BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
                SeccompAction::Allow,
                SeccompAction::Errno(libc::ENOSYS.cast_unsigned()),
            )?,
            filter(rules, SeccompAction::KillProcess, SeccompAction::Allow)?,
        ]))
    }

    /// Returns the additional filters of a child, which deny what only its parent needs. System calls with which
    /// libraries probe the file system fail with "permission denied", so that the library continues; others kill the
    /// process.
    pub(crate) fn inner() -> Result<Self, FilterError> {
        let probes = PROBES.iter().map(|call| (*call, Vec::new())).collect();
        let mut forbidden: Rules = SUPERVISE.iter().map(|call| (*call, Vec::new())).collect();
        // Threads are allowed, processes are not: `clone` must have all flags of a thread.
        let flags = [libc::CLONE_VM, libc::CLONE_THREAD, libc::CLONE_SIGHAND];
        let missing_flag = flags.iter().map(|flag| masked(0, flag.cast_unsigned().into(), 0));
        forbidden.insert(libc::SYS_clone, missing_flag.collect::<Result<_, _>>()?);
        // Of `prctl`, only setting a thread name is allowed.
        forbidden.insert(libc::SYS_prctl, vec![not_equal(libc::PR_SET_NAME.cast_unsigned())?]);
        // Signals to itself are allowed, because `abort` needs them.
        forbidden.insert(libc::SYS_tgkill, vec![not_equal(OWN_PROCESS)?]);
        Ok(Self(vec![
            filter(probes, SeccompAction::Allow, SeccompAction::Errno(libc::EACCES.cast_unsigned()))?,
            filter(forbidden, SeccompAction::Allow, SeccompAction::KillProcess)?,
        ]))
    }

    /// Returns the filters of a process that works on files. They kill it on system calls that reach the network, other
    /// programs or other processes.
    pub(crate) fn with_files() -> Result<Self, FilterError> {
        let rules = BEYOND_FILES.iter().map(|call| (*call, Vec::new())).collect();
        Ok(Self(vec![filter(rules, SeccompAction::Allow, SeccompAction::KillProcess)?]))
    }

    /// Permanently installs the filters in this process.
    pub(crate) fn install(&self) -> io::Result<()> {
        let install = |filter| seccompiler::apply_filter(&for_this_process(filter)).map_err(io::Error::other);
        self.0.iter().try_for_each(install)
    }
}

/// A filter that cannot be built for this processor.
#[derive(Debug, thiserror::Error)]
#[error("cannot build a seccomp filter")]
pub(crate) struct FilterError;

/// Rules by system call. A call matches if one of its rules matches, or if it has none.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn filter(
    rules: Rules,
    mismatch_action: SeccompAction,
    match_action: SeccompAction,
) -> Result<BpfProgram, FilterError> {
    let arch = std::env::consts::ARCH.try_into().map_err(|_| FilterError)?;
    let filter = SeccompFilter::new(rules, mismatch_action, match_action, arch).map_err(|_| FilterError)?;
    filter.try_into().map_err(|_| FilterError)
}

/// A placeholder in the filters for the id of the process that installs them.
const OWN_PROCESS: u32 = 0x7fff_0137;

/// Replaces the placeholder with this process's id.
fn for_this_process(filter: &BpfProgram) -> BpfProgram {
    let mut filter = filter.clone();
    for instruction in filter.iter_mut().filter(|instruction| instruction.k == OWN_PROCESS) {
        instruction.k = std::process::id();
    }
    filter
}

/// Returns a rule that matches if `argument & mask == value`.
fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompRule, FilterError> {
    rule(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Returns a rule that matches if the first argument is not `value`.
fn not_equal(value: u32) -> Result<SeccompRule, FilterError> {
    rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value.into())
}

fn rule(
    argument: u8,
    length: SeccompCmpArgLen,
    comparison: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, FilterError> {
    let condition = SeccompCondition::new(argument, length, comparison, value).map_err(|_| FilterError)?;
    SeccompRule::new(vec![condition]).map_err(|_| FilterError)
}

/// System calls that a process that works on files does not need.
const BEYOND_FILES: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_sendmsg,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
];

/// System calls for computing, waiting and using open descriptors.
const COMPUTE: &[i64] = &[
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

/// System calls for forking and monitoring children, and for a child that enters the cage.
const SUPERVISE: &[i64] = &[
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

/// System calls with which libraries probe the system: time zones, number of processors, memory settings.
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
