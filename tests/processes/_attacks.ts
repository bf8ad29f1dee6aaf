import { type Attack, attack, type Outcome, perl, printed } from "./_attack.ts";
import { missing, type Place, SECRET } from "./_place.ts";
import { killed, longSleep } from "./lives.ts";
import { OUTSIDE } from "./_socket_attacks.ts";
import { call } from "../helpers/system_calls.ts";

const shown = ({ stdout }: Outcome): boolean => stdout.includes(SECRET);
const made = (path: string): Attack["got"] => (_outcome, place) => place.read(path) !== null;
/** A user who is not root cannot change the bounding set, and without a set-user program it has no use. */
const CAPABILITIES = Deno.uid() === 0 ? "Prm|Eff|Amb|Bnd" : "Prm|Eff|Amb";
const mayGetRights = /^NoNewPrivs:\s*0$/m.test(missing === "" ? Deno.readTextFileSync("/proc/self/status") : "");
const HOOK = "#!/bin/sh\n", CONFIG = "[core]\n\tbare = false\n";

function ended(place: Place): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${place.victim.pid}/stat`);
    return /^\d+ \(.*\) [ZX] /.test(stat);
  } catch {
    return true;
  }
}

const FILES: readonly Attack[] = [
  attack("writes a file outside", (p) => `echo x > ${p.outside}/new`, made("outside/new")),
  attack(
    "changes a file outside",
    (p) => `echo more >> ${p.outside}/secret`,
    (_, p) => p.read("outside/secret") !== SECRET,
  ),
  attack(
    "empties a file outside",
    (p) => perl(`truncate("${p.outside}/secret", 0)`),
    (_, p) => p.read("outside/secret") === "",
  ),
  ...["outside", "readable"].flatMap((folder) =>
    ([["reading", "01000"], ["neither reading nor writing", "01003"]] as const).map(([what, flags]) =>
      attack(
        `empties a file in the folder ${folder} by opening it for ${what}`,
        (p) => perl(`sysopen(F, "${p.root}/${folder}/secret", ${flags})`),
        (_, p) => p.read(`${folder}/secret`) === "",
      )
    )
  ),
  attack(
    "empties a file that it may read",
    (p) => perl(`truncate("${p.root}/readable/secret", 0)`),
    (_, p) => p.read("readable/secret") === "",
  ),
  attack("removes a file outside", (p) => `rm -f ${p.outside}/secret`, (_, p) => p.read("outside/secret") === null),
  attack("renames a file out", (p) => `echo x > a; mv a ${p.outside}/a`, made("outside/a")),
  attack("renames a file in", (p) => `mv ${p.outside}/secret taken`, made("workspace/taken")),
  attack("links a file of others into the workspace", (p) => `ln ${p.outside}/secret hard; cat hard`, shown),
  attack("makes a folder outside", (p) => `mkdir ${p.outside}/d && echo x > ${p.outside}/d/f`, made("outside/d/f")),
  attack("reads the home folder", (p) => `cat ${p.home}/secret`, shown),
  attack("lists the home folder", (p) => `ls -a ${p.home}`, ({ stdout }) => stdout.includes("secret")),
  attack("reads Vis's folder", (p) => `cat ${p.visHome}/secret`, shown),
  attack("reads a file of others", (p) => `cat ${p.outside}/secret`, shown),
  attack("reads through a link of the workspace", () => "cat link", shown),
  attack(
    "writes through a link of the workspace",
    () => "echo x >> link",
    (_, p) => p.read("outside/secret") !== SECRET,
  ),
  attack("reads through a link that it makes", (p) => `ln -s ${p.home} h; cat h/secret`, shown),
  attack("reads by ..", () => "cat ../home/secret", shown),
  attack(
    "runs a program that it may not read",
    (p) => `cp /bin/cat ${p.outside}/cat 2>/dev/null; ${p.outside}/cat link`,
    shown,
  ),
  attack("makes a device", () => "mknod zero c 1 5 && head -c 1 zero > /dev/null && echo got it", printed, {
    control: false,
  }),
  attack("gives a file the set-user bit", () => "cp /bin/true s; chmod u+s s; [ -u s ] && echo got it", printed),
  attack(
    "makes a file with the set-user bit",
    () => perl(`use Fcntl; sysopen(F, "s", O_CREAT|O_WRONLY, 04755); print "got it" if (stat "s")[2] & 04000`),
    printed,
  ),
];

/** Each attack needs a repository that no other command has touched. */
export const REPOSITORY: readonly Attack[] = [
  attack("leaves a hook", () => "echo evil > .git/hooks/post-checkout", made("workspace/.git/hooks/post-checkout")),
  attack(
    "changes a hook",
    () => "echo evil >> .git/hooks/pre-push",
    (_, p) => p.read("workspace/.git/hooks/pre-push") !== HOOK,
  ),
  attack(
    "names a command in .git/config",
    () => "echo evil >> .git/config",
    (_, p) => p.read("workspace/.git/config") !== CONFIG,
  ),
  attack(
    "puts another folder in the place of the hooks",
    () => "mkdir evil; echo evil > evil/pre-push; rm -r .git/hooks; ln -s ../evil .git/hooks",
    (_, p) => p.read("workspace/.git/hooks/pre-push") !== HOOK,
  ),
  attack(
    "puts another repository in its place",
    () => "mv .git old; mkdir evil; echo evil > evil/config; ln -s evil .git",
    (_, p) => p.read("workspace/.git/config") === "evil\n",
  ),
  attack(
    "settles for a submodule",
    () => "mkdir -p .git/modules/a; echo evil > .git/modules/a/config",
    made("workspace/.git/modules/a/config"),
  ),
  attack(
    "changes .vis",
    () => "echo evil > .vis/config.jsonc",
    (_, p) => p.read("workspace/.vis/config.jsonc") !== "{}\n",
  ),
  attack(
    "adds to .vis",
    () => "mkdir -p .vis/extensions/e; echo evil > .vis/extensions/e/mod.ts",
    made("workspace/.vis/extensions/e/mod.ts"),
  ),
];

/** These calls change the scheduling of a process, by its id, with the variables of SCHEDULING_VALUES. */
export const SCHEDULING: readonly (readonly [name: string, made: (pid: number) => string])[] = [
  ["sets the priority", (pid) => `${call("setpriority")}, 0, ${pid}, 19`],
  ["sets the priority for files", (pid) => `${call("ioprio_set")}, 1, ${pid}, ${(2 << 13) | 7}`],
  ["sets the processors", (pid) => `${call("sched_setaffinity")}, ${pid}, 8, $all`],
  ["sets the scheduler", (pid) => `${call("sched_setscheduler")}, ${pid}, 3, $zero`],
  ["sets the parameters of the scheduler", (pid) => `${call("sched_setparam")}, ${pid}, $zero`],
  ["sets the attributes of the scheduler", (pid) => `${call("sched_setattr")}, ${pid}, $attributes, 0`],
];
export const SCHEDULING_VALUES =
  '$zero = pack("i", 0); $all = pack("Q", ~0); $attributes = pack("LLQlLQQQ", 48, 3, 0, 19, 0, 0, 0, 0);';

/** Returns a command that leaves a long sleep behind. It ends when the sleep has begun, or never seems to. */
function staying(seconds: number, leave: (code: string) => string): string {
  const begun = `begun-${seconds}`;
  const wait = `n=0; until [ -e ${begun} ] || [ $((n+=1)) -gt 500 ]; do sleep 0.01; done`;
  return `${leave(`: > ${begun}; exec ${longSleep(seconds)}`)} > /dev/null 2>&1 & ${wait}`;
}

const PROCESSES: readonly Attack[] = [
  attack("reads Vis's environment", () => `cat /proc/${Deno.pid}/environ`, ({ stdout }) => stdout !== ""),
  attack("reads the environment of another process", (p) => `cat /proc/${p.victim.pid}/environ`, shown),
  attack("goes by the root of another process", (p) => `cat /proc/${p.victim.pid}/root${p.home}/secret`, shown),
  attack("goes by the folder of another process", () => `ls /proc/${Deno.pid}/cwd/`, ({ stdout }) => stdout !== ""),
  attack("gets a variable of Vis", () => "env", shown, { control: false }),
  attack("signals another process", (p) => `kill -9 ${p.victim.pid}; sleep 0.05`, (_, p) => ended(p)),
  attack(
    "signals a thread of another process",
    (p) => `${perl(`syscall(${call("tkill")}, ${p.victim.pid}, 9)`)}; sleep 0.05`,
    (_, p) => ended(p),
  ),
  attack(
    "traces another process",
    (p) => perl(`print "got it" if syscall(${call("ptrace")}, 0x4206, ${p.victim.pid}, 0, 0) == 0`),
    printed,
  ),
  attack(
    "limits another process",
    (p) => `prlimit --pid ${p.victim.pid} --nofile=7:7`,
    (_, p) => /Max open files +7 /.test(Deno.readTextFileSync(`/proc/${p.victim.pid}/limits`)),
  ),
  ...SCHEDULING.map(([name, made]) =>
    attack(
      `${name} of another process`,
      (p) =>
        perl(
          `${SCHEDULING_VALUES} print "got it" if syscall(${made(p.victim.pid)}) == 0`,
        ),
      printed,
    )
  ),
  // The attack concerns all processes of the user. Its values would change nothing, so it is not tried without the
  // wall.
  attack(
    "sets the priority of the user",
    () => perl(`print "got it" if syscall(${call("setpriority")}, 2, 0, 0) == 0`),
    printed,
    { control: false },
  ),
  attack(
    "sets the priority of the user's files",
    () => perl(`print "got it" if syscall(${call("ioprio_set")}, 3, 0, 0) == 0`),
    printed,
    { control: false },
  ),
  attack(
    "signals another process by a descriptor",
    (p) =>
      `${
        perl(
          `$f = syscall(${call("pidfd_open")}, ${p.victim.pid}, 0); syscall(${call("pidfd_send_signal")}, $f, 9, 0, 0)`,
        )
      }; sleep 0.05`,
    (_, p) => ended(p),
  ),
  attack(
    "reads the memory of another process",
    (p) =>
      perl(
        `open(M, "/proc/${p.victim.pid}/maps"); $m = join "", <M>; ($a) = $m =~ /^([0-9a-f]+)-.*\\[stack\\]/m; open(F, "/proc/${p.victim.pid}/mem"); print "got it" if $a && sysseek(F, hex $a, 0) && sysread(F, $x, 16)`,
      ),
    printed,
    { control: Deno.uid() === 0 },
  ),
  attack(
    "keeps a capability",
    () => `grep -qE "^Cap(${CAPABILITIES}):.*[1-9a-f]" /proc/self/status && echo got it`,
    printed,
    { control: Deno.uid() === 0 },
  ),
  attack(
    "could get rights by a set-user program",
    () => 'grep -q "NoNewPrivs:.*0" /proc/self/status && echo got it',
    printed,
    { control: mayGetRights },
  ),
  attack("makes a user namespace", () => "unshare -U true && echo got it", printed, { control: false }),
  attack("makes a mount namespace", () => "unshare -m true && echo got it", printed, { control: false }),
  attack("asks for keys", () => perl(`print "got it" if syscall(${call("keyctl")}, 0, -3, 1) >= 0`), printed, {
    control: false,
  }),
  attack(
    "makes an io_uring",
    () => perl(`$p = "\\0" x 120; print "got it" if syscall(${call("io_uring_setup")}, 1, $p) >= 0`),
    printed,
    { control: false },
  ),
  attack("gives a file to another user", () => "echo x > f; chown 12345 f && echo got it", printed, {
    control: Deno.uid() === 0,
  }),
  attack("stays in the background", () => staying(901, (code) => `sh -c '${code}'`), () => killed(longSleep(901))),
  attack("stays by nohup", () => staying(902, (code) => `nohup sh -c '${code}'`), () => killed(longSleep(902))),
  attack(
    "stays in a session of its own",
    () => staying(903, (code) => `setsid sh -c '${code}'`),
    () => killed(longSleep(903)),
  ),
  attack(
    "stays by a double fork",
    () => staying(904, (code) => `setsid sh -c 'setsid sh -c "${code}" &'`),
    () => killed(longSleep(904)),
  ),
  attack(
    "stays under another mark",
    () => staying(905, (code) => `setsid sh -c 'prlimit --pid 0 --msgqueue=1:1 2>/dev/null; ulimit -q 1; ${code}'`),
    () => killed(longSleep(905)),
  ),
  attack("types into a terminal", () => perl(`$x = "x"; ioctl(STDIN, 0x5412, $x); print "got it" if $! != 1`), printed),
  attack("has a terminal", () => "[ -e /dev/tty ] && : < /dev/tty && echo got it", printed, { control: false }),
];

export const ATTACKS: readonly Attack[] = [...FILES, ...REPOSITORY, ...PROCESSES, ...OUTSIDE];
