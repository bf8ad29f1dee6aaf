import { call } from "../helpers/system_calls.ts";
import { type Attack, attack, perl, printed } from "./_attack.ts";

const socketOf = (family: number, type: number, protocol = 0): string =>
  perl(`print "got it" if syscall(${call("socket")}, ${family}, ${type}, ${protocol}) >= 0`);

const SOCKETS: readonly Attack[] = [
  attack("makes a TCP socket", () => socketOf(2, 1), printed, { allowedIn: ["private", "internet"] }),
  attack("makes a UDP socket", () => socketOf(2, 2), printed, { allowedIn: ["private", "internet"] }),
  attack("makes a UDP socket of IPv6", () => socketOf(10, 2), printed, {
    control: false,
    allowedIn: ["private", "internet"],
  }),
  attack("makes a unix socket", () => socketOf(1, 1), printed, { allowedIn: ["private"] }),
  attack(
    "speaks to a service by its unix socket",
    (p) =>
      perl(
        `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("${p.outside}/bus")) && print "got it"`,
      ),
    printed,
  ),
  attack(
    "asks the buses of the system and of the session",
    () =>
      perl(
        `use Socket; for $p ("/run/dbus/system_bus_socket", "/run/user/$</bus", "/run/docker.sock", $ENV{DBUS_SESSION_BUS_ADDRESS} =~ s/^unix:path=//r) { socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un($p)) && print "got it" }`,
      ),
    printed,
    { control: false },
  ),
  attack(
    "binds a unix socket for others",
    (p) =>
      perl(
        `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && bind(S, sockaddr_un("${p.workspace}/own")) && print "got it"`,
      ),
    printed,
    { allowedIn: ["private"] },
  ),
  attack(
    "speaks to a service by its abstract socket",
    (p) =>
      perl(
        `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("Sa*", 1, "\\0${p.abstract}")) && print "got it"`,
      ),
    printed,
  ),
  attack(
    "speaks to a service through the root of another process",
    (p) =>
      perl(
        `use Socket; for $r ("/proc/${p.victim.pid}/root", "/proc/${Deno.pid}/root", "/proc/1/root") { $b = "${p.outside}/bus"; chdir("$r${p.outside}") && socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("bus")) && print "got it" }`,
      ),
    printed,
  ),
  attack(
    "speaks to a service by .. and by a link",
    (p) =>
      perl(
        `use Socket; symlink "${p.outside}/bus", "to-bus"; for $b ("../outside/bus", "to-bus") { socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un($b)) && print "got it" }`,
      ),
    printed,
  ),
  attack(
    "takes the place of a service",
    (p) => `rm -f ${p.outside}/bus; mv ${p.outside} gone; ls gone/secret && echo got it`,
    printed,
  ),
  attack("makes a netlink socket", () => socketOf(16, 3), printed, { control: false, allowedIn: ["private"] }),
  attack("makes a packet socket", () => socketOf(17, 3), printed, { control: false }),
  attack("makes a raw socket", () => socketOf(2, 3), printed, { control: false }),
  attack("makes a socket for pings", () => socketOf(2, 2, 1), printed, { control: false }),
  attack("makes a vsock socket", () => socketOf(40, 1), printed, { control: false }),
  attack("makes a socket of the kernel's ciphers", () => socketOf(38, 5), printed, { control: false }),
];

const NAMESPACES: readonly Attack[] = [
  ...([
    ["mounts", `syscall(${call("mount")}, "none", ".git", "tmpfs", 0, 0)`],
    ["unmounts", `syscall(${call("umount2")}, "/proc", 2)`],
    ["changes its root", `syscall(${call("pivot_root")}, ".", ".")`],
    ["goes into another root", `syscall(${call("chroot")}, ".")`],
    ["makes namespaces", `syscall(${call("unshare")}, 0x10000000)`],
    ["makes namespaces in a new process", `syscall(${call("clone")}, 0x10020000 | 17, 0, 0, 0, 0)`],
    ["copies a mount", `syscall(${call("open_tree")}, -100, "/", 1)`],
    ["makes a file system", `syscall(${call("fsopen")}, "tmpfs", 0)`],
    ["moves a mount", `syscall(${call("move_mount")}, -100, "/proc", -100, ".git", 0)`],
    ["changes a mount", `$a = pack("QQQQ", 0, 1, 0, 0); syscall(${call("mount_setattr")}, -100, "/", 0x8000, $a, 32)`],
    [
      "copies and changes a mount",
      `$a = pack("QQQQ", 0, 1, 0, 0); syscall(${call("open_tree_attr")}, -100, "/", 1, $a, 32)`,
    ],
  ] as const).map(([name, made]) =>
    attack(`${name} by a system call`, () => perl(`$r = do { ${made} }; print "got it" if $r >= 0`), printed, {
      control: false,
    })
  ),
  attack(
    "joins the namespaces of another process",
    (p) =>
      perl(
        `for $n ("mnt", "net", "ipc", "user") { for $i (${p.victim.pid}, ${Deno.pid}, 1) { open(F, "/proc/$i/ns/$n") && syscall(${
          call("setns")
        }, fileno(F), 0) == 0 && print "got it" } } $f = syscall(${
          call("pidfd_open")
        }, ${p.victim.pid}, 0); print "got it" if $f >= 0 && syscall(${call("setns")}, $f, 0x20000) == 0`,
      ),
    printed,
    { control: false },
  ),
  attack(
    "takes a descriptor of another process",
    (p) =>
      perl(
        `$f = syscall(${call("pidfd_open")}, ${p.victim.pid}, 0); print "got it" if $f >= 0 && syscall(${
          call("pidfd_getfd")
        }, $f, 0, 0) >= 0`,
      ),
    printed,
    { control: Deno.uid() === 0 },
  ),
];

export const OUTSIDE: readonly Attack[] = [...SOCKETS, ...NAMESPACES];
