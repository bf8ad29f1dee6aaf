import { dirname } from "node:path";
import { isWithin } from "../../domain/kit/files.ts";
import type { GrantedPath } from "../../sandbox/confine/access.ts";

/** The paths are absolute and real. */
export interface SeatbeltPolicy {
  readonly read: readonly GrantedPath[];
  readonly write: readonly GrantedPath[];
  readonly kept: readonly string[];
  readonly opened: readonly GrantedPath[];
  readonly hidden: readonly string[];
  readonly devices: readonly string[];
  readonly network: boolean;
}

/** A path of the policy is a parameter, so that no file name can add a rule. */
interface SeatbeltProfile {
  readonly text: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Every program may read and execute these folders, except `SERVER_SETTINGS`. The volume with the user's files is
 * below /System, so /System itself is not in the list. */
const PROGRAMS = [
  ...[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/libexec",
    "/usr/share",
    "/usr/local",
    "/opt/homebrew",
  ],
  ...["/opt/local", "/nix/store", "/Library/Apple", "/Library/Frameworks", "/Library/Developer", "/Library/Java"],
  ...["/Library/Perl", "/Library/Ruby", "/System/Cryptexes", "/System/DriverKit", "/System/Library"],
  ...["/System/Volumes/Preboot/Cryptexes", "/System/iOSSupport", "/private/var/db/dyld", "/private/var/db/oah"],
];
const SETTINGS = ["/private/etc", "/private/var/db/timezone", "/private/var/select"];
const SETTING_FILES = ["/", "/private/var/db/xcode_select_link"];
/** These settings may contain keys and accounts, which the system does not hide from root. */
const SETTING_KEYS = [
  ...["kcpassword", "krb5.keytab", "master.passwd", "openldap", "ppp", "racoon", "security", "ssh", "sudoers"],
  ...["sudoers.d", "cups", "postfix", "wireguard"],
].map((name) => `/private/etc/${name}`);
const SERVER_SETTINGS = ["/usr/local", "/opt/homebrew", "/opt/local"].flatMap((at) => [`${at}/etc`, `${at}/var`]);
const CERTIFICATES = ["/usr/local/etc", "/opt/homebrew/etc"].flatMap((at) =>
  ["ca-certificates", "openssl@1.1", "openssl@3"].map((name) => `${at}/${name}`)
);
/** A file of the data volume has a second name below this folder. */
const DATA_VOLUME = "/System/Volumes/Data";
const LINKS = ["/etc", "/tmp", "/var"];
const ANCESTORS = ["/Library", "/System", "/System/Volumes", "/System/Volumes/Preboot", "/opt", "/private", "/usr"];
const SYSCTL_PREFIXES = ["hw.", "kern.os", "machdep.cpu."];
const SYSCTLS = [
  ...["argmax", "boottime", "hostname", "maxfilesperproc", "maxproc", "ngroups", "secure_kernel", "usrstack64"],
  ...["version"],
].map((name) => `kern.${name}`).concat("sysctl.proc_cputype", "vm.loadavg");
const SYSCTLS_WRITTEN = ["kern.grade_cputype", "kern.tcsm_enable"];
const SERVICES = [
  ...["bsd.dirhelper", "logd", "system.logger", "system.notification_center", "system.opendirectoryd.libinfo"],
  ...["system.opendirectoryd.membership"],
].map((name) => `com.apple.${name}`);
const NETWORK_SERVICES = [
  ...["SystemConfiguration.DNSConfiguration", "SystemConfiguration.configd", "trustd", "trustd.agent"],
].map((name) => `com.apple.${name}`);
/** Python, PyTorch and PostgreSQL use shared memory with these names. */
const SHARED_MEMORY = "^/?(psm_|wnsm_|torch_|PostgreSQL\\.)";
/** `deny default` leaves these operations open. */
const LEFT_OPEN = ["process-info*", "nvram*", "iokit-get-properties", "file-map-executable"];
/** Some of these operations are parts of allowed operations, so the profile denies them last. */
const NEVER = [
  ...["file-mount", "file-mount-update", "file-unmount", "file-write-mount", "file-write-umount", "file-write-unmount"],
  ...["file-write-setugid", "file-mknod", "file-chroot", "appleevent-send", "lsopen", "job-creation"],
  ...["mach-priv-host-port"],
  ...["mach-priv-task-port", "mach-task-inspect", "mach-task-read", "mach-register", "user-preference-write"],
  ...["distributed-notification-post", "authorization-right-obtain", "system-privilege", "system-set-time"],
];
/** These commands of `fcntl` change a file opened for reading: F_MAKECOMPRESSED and F_TRANSFEREXTENTS. */
const FCNTL_CHANGES = "80 110";

/** The last matching rule wins, so a denial follows the rules that it limits. An unknown operation would make the whole
 * profile invalid, so guards protect operations that some systems lack. */
export function seatbeltProfile(policy: SeatbeltPolicy): SeatbeltProfile {
  const parameters: Record<string, string> = {};
  const named = (name: string, paths: readonly string[]): string[] =>
    paths.map((path, at) => {
      parameters[`${name}_${at}`] = path;
      return `(param "${name}_${at}")`;
    });
  const granted = (name: string, paths: readonly GrantedPath[]): string[] =>
    named(name, paths.map(({ path }) => path)).map((path, at) =>
      paths[at]?.folder ? `(subpath ${path})` : literal(path)
    );
  const writable = granted("WRITE", policy.write);
  const own = [...granted("READ", policy.read), ...writable];
  const above = named("ABOVE", ancestorsOf([...policy.read, ...policy.write].map(({ path }) => path))).map(literal);
  const passed = [...LINKS, ...ANCESTORS].map(quoted).map(literal).concat(above);
  const programs = PROGRAMS.map(subpath);
  const settings = [...SETTING_FILES.map(quoted).map(literal), ...SETTINGS.map(subpath)];
  const devices = named("DEVICE", policy.devices).map(literal);
  const pins = named("PIN", pinsOf(policy)).map(literal);
  const kept = named("KEPT", policy.kept.flatMap(spellings)).map((path) => `(subpath ${path})`);
  const opened = granted("OPENED", policy.opened);
  const hidden = named("HIDDEN", policy.hidden).map(literal);
  const rules = [
    "(version 1)",
    "(deny default)",
    ...LEFT_OPEN.map((operation) => guarded(operation, `(deny ${operation})`)),
    "(allow process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    rule("allow file-read-metadata", passed),
    rule("allow file-read*", settings),
    rule("allow file-read* process-exec*", programs),
    rule("deny file-read* process-exec*", [...SETTING_KEYS, ...SERVER_SETTINGS, DATA_VOLUME].map(subpath)),
    rule("allow file-read*", CERTIFICATES.map(subpath)),
    rule("allow file-read* process-exec*", own),
    guarded("file-map-executable", rule("allow file-map-executable", [...programs, ...own])),
    guarded("file-test-existence", rule("allow file-test-existence", [...passed, ...settings, ...programs, ...own])),
    rule("allow file-write*", writable),
    guarded("file-link", rule("allow file-link", writable)),
    guarded("file-clone", rule("allow file-clone", own)),
    rule("allow file-read* file-write-data file-ioctl", [
      ...devices.map((device) => `(require-all ${device} (vnode-type CHARACTER-DEVICE))`),
      '(literal "/dev/dtracehelper")',
    ]),
    '(allow file-read* file-write-data (subpath "/dev/fd"))',
    "(allow pseudo-tty)",
    '(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))',
    '(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))',
    rule("allow sysctl-read", [
      ...SYSCTL_PREFIXES.map((name) => `(sysctl-name-prefix "${name}")`),
      ...SYSCTLS.map((name) => `(sysctl-name "${name}")`),
    ]),
    rule("allow sysctl-write", SYSCTLS_WRITTEN.map((name) => `(sysctl-name "${name}")`)),
    rule("allow mach-lookup", SERVICES.map((name) => `(global-name "${name}")`)),
    guarded("mach-host*", "(allow mach-host*)"),
    "(allow ipc-posix-sem)",
    `(allow ipc-posix-shm (ipc-posix-name-regex #"${SHARED_MEMORY}"))`,
    '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
    guarded("system-mac-syscall", '(allow system-mac-syscall (mac-policy-name "vnguard"))'),
    "(allow system-socket (socket-domain AF_UNIX))",
    rule("allow network-bind network-inbound network-outbound", writable),
    ...policy.network ? networkRules() : [],
    rule("deny file-write-create file-write-unlink", pins),
    rule("deny file-write* network-bind", kept),
    guarded("file-link", rule("deny file-link", kept)),
    rule("allow file-write*", opened),
    guarded("file-link", rule("allow file-link", opened)),
    guarded("file-link", rule("deny file-link", hidden)),
    rule("deny file-read-data file-read-xattr file-write* process-exec*", hidden),
    guarded("file-map-executable", rule("deny file-map-executable", hidden)),
    guarded("file-clone", rule("deny file-clone", hidden)),
    ...NEVER.map((operation) => guarded(operation, `(deny ${operation})`)),
    guarded("system-fcntl", `(deny system-fcntl (fcntl-command ${FCNTL_CHANGES}))`),
  ];
  return { text: rules.filter((text) => text !== "").join("\n") + "\n", parameters };
}

export function systemRuns(folder: string): boolean {
  const isIn = (one: string): boolean => isWithin(folder, one);
  return PROGRAMS.some(isIn) && !SERVER_SETTINGS.some(isIn);
}

export function seatbeltArguments({ text, parameters }: SeatbeltProfile): readonly string[] {
  return ["-p", text, ...Object.entries(parameters).map(([name, path]) => `-D${name}=${path}`), "--"];
}

/** The address of a server cannot be part of a Seatbelt rule: either all addresses are allowed or only this machine. */
function networkRules(): readonly string[] {
  return [
    '(allow network-outbound (remote tcp "*:*") (remote udp "*:*"))',
    '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
    '(allow file-read* (literal "/private/var/run/resolv.conf"))',
    "(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))",
    rule("allow mach-lookup", NETWORK_SERVICES.map((name) => `(global-name "${name}")`)),
  ];
}

/** Moving a folder above a kept or hidden path would give its contents another name, for which the profile has no
 * rule. */
function pinsOf({ write, kept, hidden }: SeatbeltPolicy): readonly string[] {
  const roots = write.filter(({ folder }) => folder).map(({ path }) => path);
  return [
    ...new Set([...kept, ...hidden].flatMap((path) => {
      const above = ancestorsOf([path]);
      return above.filter((folder) => roots.some((root) => isWithin(folder, root)));
    })),
  ];
}

function ancestorsOf(paths: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) for (let at = dirname(path); at !== "/" && at !== "."; at = dirname(at)) found.add(at);
  return [...found];
}

/** A disk of a Mac can treat small and capital letters as equal, so a program could create a missing file under any of
 * these names. Only a short name such as `.git` has other spellings here. */
function spellings(path: string): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!/^\.[a-z]{1,4}$/.test(name)) return [path];
  const folder = path.slice(0, -name.length);
  return Array.from(name).reduce<readonly string[]>(
    (found, letter) => found.flatMap((one) => [...new Set([letter, letter.toUpperCase()])].map((it) => one + it)),
    [folder],
  );
}

function rule(head: string, filters: readonly string[]): string {
  if (filters.length === 0) return "";
  return filters.length === 1 ? `(${head} ${filters[0]})` : `(${head}\n  ${filters.join("\n  ")})`;
}

function guarded(operation: string, text: string): string {
  return text === "" ? "" : `(if (defined? '${operation}) ${text})`;
}

function quoted(text: string): string {
  return `"${text}"`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${path})`;
}
