# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a job: makes one attempt, and exits with 0 if the kernel let it through, else with 1.

A call that fails for another reason than permission has been let through: its arguments are nonsense on purpose, so
that nothing happens where the attempt succeeds.
"""
import ctypes
import errno
import mmap
import os
import socket
import stat
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS)
NUMBERS = {  # of x86_64 and aarch64
    "x86_64": {"acct": 163, "bpf": 321, "clock_settime": 227, "finit_module": 313, "io_uring_setup": 425,
               "kexec_load": 246, "keyctl": 250, "mount": 165, "open_by_handle_at": 304, "reboot": 169, "setns": 308,
               "swapon": 167, "syslog": 103, "unshare": 272, "userfaultfd": 323, "open_tree": 428, "clone3": 435,
               "perf_event_open": 298, "openat2": 437, "process_vm_readv": 310, "pidfd_open": 434, "pidfd_getfd": 438},
    "aarch64": {"acct": 89, "bpf": 280, "clock_settime": 112, "finit_module": 273, "io_uring_setup": 425,
                "kexec_load": 104, "keyctl": 219, "mount": 40, "open_by_handle_at": 265, "reboot": 142, "setns": 268,
                "swapon": 224, "syslog": 116, "unshare": 97, "userfaultfd": 282, "open_tree": 428, "clone3": 435,
                "perf_event_open": 241, "openat2": 437, "process_vm_readv": 270, "pidfd_open": 434, "pidfd_getfd": 438},
}[os.uname().machine]


def call(name, *args):
    """Was the call let through?"""
    ctypes.set_errno(0)
    if LIBC.syscall(NUMBERS[name], *[ctypes.c_long(a) if isinstance(a, int) else a for a in args]) >= 0:
        return True
    return ctypes.get_errno() not in REFUSED


def opens(*args):
    try:
        socket.socket(*args).close()
        return True
    except OSError as e:
        return e.errno not in REFUSED


def disk():
    """The machine's first disk, by a device node of one's own making."""
    with open("/proc/partitions") as f:
        major, minor = map(int, f.read().split("\n")[2].split()[:2])
    path = f"/tmp/disk-{os.getpid()}"
    os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(major, minor))
    try:
        with open(path, "rb") as f:
            return len(f.read(1)) == 1
    finally:
        os.unlink(path)


def rewrite(path):
    """Write what is there already."""
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text)
    return True


def connect(*address):
    s = socket.socket(socket.AF_UNIX if len(address) == 1 else socket.AF_INET)
    s.settimeout(2)
    s.connect(address[0] if len(address) == 1 else (address[0], int(address[1])))
    return True


def sees(word):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if word.encode() in f.read() and pid != str(os.getpid()) and pid != str(os.getppid()):
                    return True
        except OSError:
            continue
    return False


def join(kind):
    fd = os.open(f"/proc/1/ns/{kind}", os.O_RDONLY)
    return call("setns", fd, 0)


def plant(path):
    """A program that gives away the rights of whoever made it."""
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.chmod(path, 0o4755)
    return True


def empower(path):
    """A program that has a capability, whoever runs it: the head, and CAP_SYS_ADMIN (bit 21)."""
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))
    return True


def spoof(address):
    """A datagram in the name of another address."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
    s.bind((address, 5353))
    s.sendto(b"x", (socket.gethostbyname(socket.gethostname()), 9))
    return True


def gateway():
    with open("/proc/net/route") as f:
        for line in f.read().splitlines()[1:]:
            words = line.split()
            if words[1] == "00000000":
                return socket.inet_ntoa(struct.pack("<I", int(words[2], 16)))
    return "127.0.0.1"


def perf():
    """What a processor does for whomever: pid -1, processor 0."""
    size = 128
    return call("perf_event_open", struct.pack("<IIQ", 1, size, 0) + bytes(size - 16), -1, 0, -1, 0)


def peek(pid):
    """A byte of another process's memory, at an address where none has any."""
    here = ctypes.create_string_buffer(1)
    local, remote = struct.pack("PN", ctypes.addressof(here), 1), struct.pack("PN", 0, 1)
    return call("process_vm_readv", os.getpid() if pid == "self" else int(pid), local, 1, remote, 1, 0)


def take(pid):
    """What another process has open."""
    handle = LIBC.syscall(NUMBERS["pidfd_open"], int(pid), 0)
    return handle >= 0 and call("pidfd_getfd", handle, 0, 0)


def socketcall(family):
    """A socket as 32-bit programs ask for it: push rbx; eax = 102, ebx = 1, ecx = arguments; int 0x80; pop; ret."""
    if os.uname().machine != "x86_64":
        return False
    LIBC.mmap.restype = ctypes.c_void_p
    place = LIBC.mmap(None, 4096, 7, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, -1, 0)  # MAP_32BIT
    code = b"\x53\xb8" + struct.pack("<I", 102) + b"\xbb" + struct.pack("<I", 1) + b"\xb9" + \
        struct.pack("<I", place + 512) + b"\xcd\x80\x5b\xc3"
    ctypes.memmove(place, code, len(code))
    ctypes.memmove(place + 512, struct.pack("<III", family, socket.SOCK_STREAM, 0), 12)
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    return -answer not in REFUSED


def plant_anew(path):
    """The same by a call that a filter may not know: fchmodat2, 452 everywhere."""
    with open(path, "w") as f:
        f.write("#!/bin/sh\n")
    LIBC.syscall(452, ctypes.c_long(-100), os.fsencode(path), ctypes.c_long(0o4755), ctypes.c_long(0))
    return bool(os.stat(path).st_mode & stat.S_ISUID)


ATTEMPTS = {
    "acct": lambda: call("acct", b"/nonexistent"),
    "abstract": lambda name: connect(f"\0{name}"),
    "alg": lambda: opens(38, socket.SOCK_SEQPACKET, 0),
    "bpf": lambda: call("bpf", 9999, 0, 0),
    "clock": lambda: call("clock_settime", 0, 0),
    "disk": disk,
    "empower": empower,
    "handle": lambda: call("open_by_handle_at", -100, 0, 0),
    "io_uring": lambda: call("io_uring_setup", 1, 0),
    "join": join,
    "kernel_log": lambda: call("syslog", 10, 0, 0),
    "kexec": lambda: call("kexec_load", 0, 0, 0, 0x7fffffff),
    "keys": lambda: call("keyctl", 0, -3, 0),
    "module": lambda: call("finit_module", -1, b"", 0),
    "mount": lambda: call("mount", b"none", b"/nonexistent", b"tmpfs", 0, 0),
    "open_tree": lambda: call("open_tree", -100, b"/", 1),
    "peek": peek,
    "packet": lambda: opens(socket.AF_PACKET, socket.SOCK_RAW, 0),
    "perf": perf,
    "ping": lambda: opens(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
    "plant": plant,
    "plant_anew": plant_anew,
    "raw": lambda: opens(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "reboot": lambda: call("reboot", 0, 0, 0, 0),
    "rewrite": rewrite,
    "sees": sees,
    "spoof": lambda: spoof(gateway()),
    "socket": lambda path: connect(path),
    "swap": lambda: call("swapon", b"/nonexistent", 0),
    "tcp": connect,
    "take": take,
    "trace": lambda pid: LIBC.ptrace(16, int(pid), 0, 0) == 0,
    "unshare": lambda flag: call("unshare", int(flag, 16)),
    "userfaultfd": lambda: call("userfaultfd", 0),
    "vsock32": lambda: socketcall(40),
    "vsock": lambda: opens(40, socket.SOCK_STREAM, 0),
}

if __name__ == "__main__":
    try:
        sys.exit(0 if ATTEMPTS[sys.argv[1]](*sys.argv[2:]) else 1)
    except OSError:
        sys.exit(1)
