import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { mounter, mounting, noMounts } from "../_mounts.ts";
import { launched, together } from "../helpers/together.ts";
import { type Ran, type StartOptions, User } from "../helpers/user.ts";

const FULL = /^vis: Cannot use database .*small\/vis\/vis\.db: the disk is full or has no inodes left/m;
const READ_ONLY = /^vis: Cannot use database .*vis\.db: its disk is mounted read-only; mount it for writing/m;

/** Asserts an empty stdout, one message, and no call of the model. */
function refused(user: User, ran: Ran, says: RegExp): void {
  assert.deepEqual([ran.code, ran.stdout], [3, ""], ran.stderr);
  assert.match(ran.stderr, says);
  assert.equal(ran.stderr.match(/^vis: /gm)?.length, 1, ran.stderr);
  assert.equal(user.mock.requests.length, 0, "no reply is paid for");
}

/** Tests machines that lack room, rights, resources, or a place for temporary files. */
export function machineSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>) => async (): Promise<void> => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    await work(user);
  };
  const says = (options: StartOptions, told: RegExp) =>
    withUser(async (user) => refused(user, await user.run(["run", "x"], options), told));
  /** Asserts that starts are refused as long as `options` apply, and that the next start works. */
  const holds = (options: StartOptions, told: RegExp) =>
    withUser(async (user) => {
      refused(user, await user.run(["run", "x"], options), told);
      const next = await user.run(["run", "x"]);
      assert.deepEqual([next.code, next.stdout], [0, "Here I am\n"], next.stderr);
    });

  launched(launcher, "vis run says which limit of the process is too low, and starts once it is raised", async (t) => {
    const limited = (limits: string): StartOptions => ({ shell: `ulimit ${limits}; exec "$@"` });
    const size = /^vis: Cannot use database .*vis\.db: a file would exceed the limit on its size \(ulimit -f,/m;
    await together(t, {
      "no file may be larger than nothing": says(limited("-f 0"), size),
      "the schema is too large": holds(limited("-f 200"), size),
      "too few open files": says(
        limited("-n 32"),
        /^vis: Cannot start with ulimit -n 32: Vis needs at least 64; raise the limit with ulimit -n 64\n$/,
      ),
      ...(launcher.name === "source"
        ? {
          "fewer open files than the runtime needs": says(
            limited("-n 14"),
            /^vis: Cannot start with ulimit -n 14: Vis needs at least 64; raise the limit with ulimit -n 64\n$/,
          ),
          "too little address space": says(
            limited("-v 8000000"),
            /^vis: Cannot start with ulimit -v 8000000: 50331648 /,
          ),
        }
        : {}),
    });
  });

  launched(launcher, "vis run says that its temporary folder cannot be used before a reply is paid for", async (t) => {
    const why = (cause: string) =>
      new RegExp(`Cannot make a folder for the sandbox in .*: ${cause}; set TMPDIR to a folder`);
    await together(t, {
      "none": holds({ env: { TMPDIR: "/does/not/exist" } }, why("there is no such file or folder")),
      "a file": says({ env: { TMPDIR: "/etc/passwd" } }, why("a part of its path is not a folder")),
      "one in which nothing can be made": says(
        { env: { TMPDIR: "/proc/self" } },
        launcher.name === "source"
          ? why(".+")
          : /^vis: Cannot use the temporary folder \/proc\/self\/: it is in .*TMPDIR/,
      ),
      "a relative one": withUser(async (user) => {
        const ran = await user.run(["run", "x"], { env: { TMPDIR: "nowhere", NO_COLOR: "1" } });
        if (launcher.name === "source") return refused(user, ran, why("there is no such file or folder"));
        // The runtime of the executable ends before the program's code runs.
        assert.match(ran.stderr, /Could not convert path to URL\.\s+Path: nowhere/);
      }),
    });
    if (launcher.name === "compiled") return;
    await using user = await User.make(launcher, { reply: replyJson("const n = 6", { final: "{{n}}" }) });
    await Deno.mkdir(`${user.workspace}/here`);
    const ran = await user.run(["run", "x"], { env: { TMPDIR: "here" } });
    assert.deepEqual([ran.code, ran.stdout], [0, "6\n"], ran.stderr);
  });

  launched(launcher, "vis run without a home says what to set", async () => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    const nowhere = { HOME: "", VIS_HOME: "" };
    refused(
      user,
      await user.run(["run", "x"], { env: nowhere }),
      /^vis: Cannot choose a database: Vis has no home folder; set VIS_HOME/,
    );
    const elsewhere = await user.run(["run", "x"], { env: { ...nowhere, VIS_HOME: user.path("own") } });
    assert.deepEqual([elsewhere.code, elsewhere.stdout], [0, "Here I am\n"], elsewhere.stderr);
  });

  const mounts: Launcher = { ...launcher, missing: launcher.missing || noMounts.replace(/^ \(skipped: |\)$/g, "") };

  launched(
    mounts,
    "vis run on a disk without room says so while it makes its database, and makes it later",
    async (t) => {
      const small = (before: string, room: string) =>
        withUser(async (user) => {
          const path = user.path("small");
          await Deno.mkdir(path);
          const mount = `mount -t tmpfs -o ${before} none ${path}; "$@"; echo "code $?" >&2`;
          const ran = await user.run(["run", "x"], {
            env: { VIS_HOME: `${path}/vis` },
            shell: mounting(`${mount}; mount -o remount,${room} ${path}; exec "$@"`),
          });
          const [first = "", second = ""] = ran.stderr.split(/^code /m);
          assert.match(first, FULL);
          assert.match(second, /^3\n/);
          assert.deepEqual([ran.code, ran.stdout], [0, "Here I am\n"], ran.stderr);
        });
      await together(t, {
        "no room for anything": small("size=4k", "size=20m"),
        "for the file, not for its index": small("size=16k", "size=20m"),
        "for a part of the schema": small("size=128k", "size=20m"),
        "for the first migration": small("size=300k", "size=20m"),
        "no inode": small("size=20m,nr_inodes=1", "nr_inodes=99"),
        "no inode for the log": small("size=20m,nr_inodes=3", "nr_inodes=99"),
        "no inode for its index": small("size=20m,nr_inodes=4", "nr_inodes=99"),
        "no inode for a temporary folder": withUser(async (user) => {
          const path = user.path("small");
          await Deno.mkdir(path);
          const shell = mounting(`mount -t tmpfs -o size=20m,nr_inodes=1 none ${path}; exec "$@"`);
          const ran = await user.run(["run", "x"], { env: { TMPDIR: path }, shell });
          refused(
            user,
            ran,
            /^vis: Cannot make a folder for the sandbox in .*small: the disk is full or has no inodes/m,
          );
        }),
      });
    },
  );

  launched(mounts, "vis on a disk that is mounted for reading only says so", async () => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    const home = user.path("vis");
    await Deno.mkdir(home);
    const shell = mounting(`mount --bind ${home} ${home}; mount -o remount,ro,bind ${home}; exec "$@"`);
    refused(user, await user.run(["run", "x"], { shell }), READ_ONLY);
    assert.equal((await user.run(["run", "x"])).code, 0);
    for (const args of [["run", "-c", "x"], ["conversations", "list"], ["db", "check"], ["db", "backup", "copy.db"]]) {
      const { code, stdout, stderr } = await user.run(args, { shell });
      assert.deepEqual([code, stdout], [3, ""], args.join(" "));
      assert.match(stderr, READ_ONLY, args.join(" "));
    }
    assert.equal((await user.run(["run", "-c", "x"])).code, 0);
    const full = user.path("full");
    await Deno.mkdir(full);
    const target = mounting(`mount -t tmpfs -o size=40k none ${full}; exec "$@"`);
    const copied = await user.run(["db", "backup", `${full}/copy.db`], { shell: target });
    assert.equal(copied.code, 3);
    assert.match(copied.stderr, /^vis: Cannot back up to .*full\/copy\.db: the disk is full/);
  });

  launched(mounts, "vis without /proc says that it cannot start", async () => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    const { code, stdout, stderr } = await user.run(["run", "x"], {
      shell: mounting('umount -l /proc; exec "$@"'),
      env: { NO_COLOR: "1" },
    });
    assert.deepEqual([code !== 0, stdout], [true, ""]);
    assert.match(
      stderr,
      launcher.name === "source" ? /^vis: Cannot start without \/proc: mount it/ : /Is \/proc mounted\?/,
    );
  });

  // From source, the runtime reports it before the program's code runs.
  if (launcher.name === "source") return;
  const processes: Launcher = {
    ...mounts,
    missing: mounts.missing || (mounter === "unshare -m" ? "" : "it needs root"),
  };
  launched(processes, "vis run of a user who may start hardly any process says so", async () => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    await Deno.chmod(user.folder, 0o777);
    for (const name of ["home", "work space", "tmp"]) await Deno.chmod(user.path(name), 0o777);
    const nobody = "setpriv --reuid=54321 --regid=54321 --clear-groups";
    const few = await user.run(["run", "x"], { shell: `exec ${nobody} prlimit --nproc=20 "$@"` });
    refused(
      user,
      few,
      /^vis: Cannot start with ulimit -u 20: Vis needs at least 32; raise the limit with ulimit -u 32\n$/,
    );
  });
}
