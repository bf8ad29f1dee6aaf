import assert from "node:assert/strict";
import { SECRET_PATTERNS } from "../../src/domain/kit/names.ts";
import type { SpawnOptions } from "../../src/extension/spawn_types.ts";
import { startLogging } from "../../src/logging/log.ts";
import type { ChildProgram } from "../../src/sandbox/launch.ts";
import { LinuxWall } from "../../src/processes/linux/linux_wall.ts";
import { call } from "../helpers/system_calls.ts";
import { launcherBehind, mayMake, place, SECRET } from "./_place.ts";
import { killed, longSleep } from "./lives.ts";
import { withFolder } from "../helpers/with_folder.ts";

const ignore = !mayMake;
const own = { loopback: "one" };
const sh = (command: string): string[] => ["/bin/sh", "-c", command];
const SERVE = `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!"; unlink "s";
bind(S, sockaddr_un("s")) or die "bind: $!"; listen(S, 5); $| = 1; print "up\\n"; while (accept(C, S)) { print C "hello"; close C }`;
const ASK =
  `use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, sockaddr_un("s")) or die "connect: $!\\n"; print <S>`;

Deno.test(
  "a command reaches the unix socket that another one made in the workspace",
  { ignore },
  () =>
    place(async ({ wall, workspace }) => {
      const stop = new AbortController();
      const up = Promise.withResolvers<void>();
      const options = { ...own, stop: stop.signal, onOutput: () => up.resolve() };
      const server = wall.spawn(workspace, ["/usr/bin/perl", "-e", SERVE], options);
      await Promise.race([up.promise, server]);
      const { stdout, stderr } = await wall.spawn(workspace, ["/usr/bin/perl", "-e", ASK], own);
      stop.abort();
      await server;
      assert.deepEqual([stdout, stderr], ["hello", ""]);
    }),
);

Deno.test(
  "a command sees the system, its own folders and its own processes, and nothing else",
  { ignore },
  () =>
    place(async ({ wall, workspace, outside, home, victim }) => {
      const processes = [`/proc/${victim.pid}`, `/proc/${Deno.pid}`];
      const looked = [outside, `${home}/secret`, "/run", "/var", ...processes]
        .map((path) => `[ -e ${path} ] && echo ${path}`).join("; ");
      const { stdout } = await wall.spawn(workspace, sh(`${looked}; [ -e /proc/$$/status ] && echo own; pwd`), own);
      assert.equal(stdout, `own\n${workspace}\n`);
      const written = await wall.spawn(workspace, sh("echo x > a; cat a; echo x > /usr/no-such-file"), own);
      assert.equal(written.stdout, "x\n");
      assert.match(written.stderr, /Read-only file system/);
    }),
);

Deno.test(
  "shared memory and queues last as long as the command",
  { ignore },
  () =>
    place(async ({ wall, workspace }) => {
      const make = `print "made" if syscall(${
        call("shmget")
      }, 4711, 4096, 01600) >= 0; open(F, ">/dev/shm/x") or print "no: $!"`;
      for (let run = 0; run < 2; run++) {
        const { stdout } = await wall.spawn(workspace, ["/usr/bin/perl", "-e", make], own);
        assert.equal(stdout, "made");
      }
      assert.equal((await wall.spawn(workspace, sh("ls /dev/shm"), own)).stdout, "");
    }),
);

Deno.test("links of the machine lead to files that a command may use", { ignore }, async () => {
  await place(async ({ root }) => {
    await Deno.mkdir(`${root}/tools/bin`, { recursive: true });
    await Deno.writeTextFile(`${root}/tools/bin/greet`, "#!/bin/sh\necho hello\n", { mode: 0o755 });
    await Deno.symlink("tools", `${root}/linked`);
    const env = { PATH: `${root}/linked/bin:/usr/bin:/bin` };
    await place(async ({ wall, workspace }) => {
      assert.equal((await wall.spawn(workspace, sh("greet; ls -d /bin/sh"), own)).stdout, "hello\n/bin/sh\n");
    }, { env, read: [`${root}/tools`] });
  });
});

Deno.test(
  "a workspace below another readable folder can be changed, and that folder cannot",
  { ignore },
  () =>
    place(async ({ root, workspace, outside }) => {
      await place(async ({ wall }) => {
        const { stdout } = await wall.spawn(
          workspace,
          sh(`echo x > a; cat a ${outside}/secret; echo y > ${outside}/b`),
          own,
        );
        assert.equal(stdout, `x\n${SECRET}`);
      }, { read: [`${root}/outside`] });
    }),
);

/** Starts programs in a user namespace in which the kernel makes no mount namespace; with `once`, only the first
 * time. */
async function noNamespaceOfMounts(folder: string, { once } = { once: false }): Promise<ChildProgram> {
  const inside = `exec unshare --user --map-root-user -- sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; exec "$@"'`;
  const script = once
    ? `if /bin/mkdir ${folder}/failed 2> /dev/null; then ${inside} sh "$@"; fi; exec "$@"`
    : `${inside} sh "$@"`;
  return await launcherBehind(script, folder);
}

Deno.test("a command runs without namespaces where they cannot be made, and the wall is not whole", {
  ignore: ignore || Deno.uid() !== 0, // For these users, the launcher is inside the user namespace.
}, async () => {
  const lines: string[] = [];
  startLogging({ level: "warn", write: (line) => lines.push(line) });
  const folder = await Deno.makeTempDir({ prefix: "vis-no-mounts-" });
  await place(async ({ wall, workspace, outside }) => {
    assert.equal((await wall.walls()).whole, true, "as far as it can be told without trying");
    const ran = await wall.spawn(workspace, sh(`echo ran >> ran; cat ran; cat ${outside}/secret`));
    assert.equal(ran.stdout, "ran\n", "once, and behind the wall");
    assert.match(
      lines.join("\n"),
      /namespaces_given_up.*the kernel refused to unshare for a private file system \(E[A-Z]+: [^)]+\)/,
    );
    assert.match(ran.stderr, /Permission denied/);
    const { whole, reason, unix, hides, loopback } = await wall.walls();
    assert.deepEqual([whole, unix, hides, loopback], [false, false, false, false]);
    assert.match(reason, /the kernel refused to unshare for a private file system \(E[A-Z]+: [^)]+\)/);
    const asked = await wall.spawn(workspace, ["/usr/bin/perl", "-e", ASK], own);
    assert.match(asked.stderr, /Died/);
    const { notes } = await wall.spawn(workspace, sh(`setsid ${longSleep(911)} > /dev/null 2>&1 & sleep 0.05`));
    assert.equal(notes.length, 1);
    assert.equal(killed(longSleep(911)), false, "what it leaves ends with it");
  }, { launcher: await noNamespaceOfMounts(folder) });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a file system that could not be made once is made the next time", {
  ignore: ignore || Deno.uid() !== 0,
}, async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-once-" });
  await place(async ({ wall, workspace }) => {
    const ran = await wall.spawn(workspace, sh("echo ran >> ran; cat ran; [ -e /run ] || echo own"), own);
    assert.equal(ran.stdout, "ran\nown\n");
    assert.equal((await wall.walls()).unix, true);
    assert.equal((await Deno.stat(`${folder}/failed`)).isDirectory, true, "the first time, it failed");
  }, { launcher: await noNamespaceOfMounts(folder, { once: true }) });
  await Deno.remove(folder, { recursive: true });
});

Deno.test("LinuxWall.spawn() hides only secret files that git does not track", {
  ignore: !mayMake,
}, async () => {
  await place(async ({ wall, workspace }) => {
    const put = async (path: string) => await Deno.writeTextFile(`${workspace}/${path}`, `${path} is ${SECRET}\n`);
    await Deno.mkdir(`${workspace}/a/node_modules`, { recursive: true });
    for (const path of [".env", ".env.example", "a/x.pem", "a/tracked.pem", "a/node_modules/y.pem"]) await put(path);
    await Deno.symlink("a/x.pem", `${workspace}/link.pem`);
    // The link leads out, and its target is no secret here.
    await Deno.symlink("/etc/hostname", `${workspace}/outside.key`);
    await Deno.symlink("nowhere", `${workspace}/gone.pem`);
    await Deno.symlink("/etc", `${workspace}/linked`);
    const git = async (...args: readonly string[]) =>
      assert.ok((await new Deno.Command("git", { args: ["-C", workspace, ...args] }).output()).success);
    await git("init", "--quiet");
    await git("add", "-f", "a/tracked.pem");
    const seen = async (options: SpawnOptions): Promise<string[]> => {
      const all = ".env .env.example a/x.pem link.pem a/tracked.pem a/node_modules/y.pem";
      const { stdout } = await wall.spawn(workspace, ["/bin/sh", "-c", `grep -l ${SECRET} ${all}`], options);
      return stdout.trim().split("\n");
    };
    const open = [".env.example", "a/tracked.pem", "a/node_modules/y.pem"];
    for (const more of [{ loopback: "c" }, { loopback: "c", network: true }]) {
      assert.deepEqual(await seen({ ...more, hideSecrets: { except: [], instead: "hidden\n" } }), open);
      assert.deepEqual(await seen({ ...more, hideSecrets: { except: [".env"], instead: "" } }), [".env", ...open]);
    }
    assert.equal((await seen({ loopback: "c" })).length, 6);
    // A command tries to make the next one show more.
    const more = { loopback: "c", hideSecrets: { except: [], instead: "" } };
    const tricks = "git add -f .env; mv a b; mkdir -p node_modules; mv b node_modules";
    await wall.spawn(workspace, ["/bin/sh", "-c", tricks], more);
    const look = ["/bin/sh", "-c", `find . -name .git -prune -o -type f -exec grep -l ${SECRET} {} +`];
    const { stdout: left } = await wall.spawn(workspace, look, more);
    assert.deepEqual(left.trim().split("\n").sort(), ["./.env.example", "./node_modules/b/node_modules/y.pem"]);
    await wall.spawn(workspace, ["/bin/sh", "-c", "mkdir a && echo nothing > a/x.pem"], more);
    assert.equal((await wall.spawn(workspace, look, more)).stdout, left, "another file in its place");
    await Deno.remove(`${workspace}/a`, { recursive: true });
    await Deno.rename(`${workspace}/node_modules/b`, `${workspace}/a`);
    await put("a/later.key");
    const hidden = { loopback: "c", hideSecrets: { except: [], instead: "hidden\n" } };
    const { stdout, stderr } = await wall.spawn(workspace, ["/bin/sh", "-c", "cat a/later.key; echo > .env"], hidden);
    assert.match(stdout, /^hidden$/m);
    assert.match(stderr, /Read-only file system/);
    assert.equal(await Deno.readTextFile(`${workspace}/.env`), `.env is ${SECRET}\n`);
  }, { secrets: SECRET_PATTERNS });
});

Deno.test("git stores no hidden file that a command cannot read", { ignore: !mayMake }, async () => {
  for (const format of ["sha1", "sha256"]) {
    await place(async ({ wall, workspace }) => {
      const put = async (path: string, text: string) => await Deno.writeTextFile(`${workspace}/${path}`, text);
      const git = async (...args: readonly string[]): Promise<string> => {
        const { success, stdout } = await new Deno.Command("git", { args: ["-C", workspace, ...args] }).output();
        assert.ok(success, args.join(" "));
        return new TextDecoder().decode(stdout);
      };
      const own = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
      await Deno.remove(`${workspace}/.git`, { recursive: true });
      await git("init", "--quiet", `--object-format=${format}`);
      for (const path of [".env", "a.txt"]) await put(path, "one\n");
      await git("add", "-f", ".env", "a.txt");
      await git(...own, "commit", "--quiet", "--message=one");
      for (const path of [".env", "a.txt", "new.pem"]) await put(path, "second\n");
      const ran = async (script: string): Promise<string> => {
        const { stderr } = await wall.spawn(
          workspace,
          sh(`set -e; git() { command git ${own.join(" ")} "$@"; }; ${script}`),
          {
            ...{ loopback: "c", write: [workspace, `${workspace}/.git`], hideSecrets: { except: [], instead: null } },
          },
        );
        return stderr;
      };
      for (
        const script of ["git commit -am two", "git add -A", "git add new.pem", "git stash", "git update-index .env"]
      ) {
        assert.match(await ran(script), /"(?:\.env|new\.pem)"\): Permission denied/, script);
      }
      await ran("git add -A -- ':!*.env' ':!*.pem'; git commit -qm two");
      assert.equal(await git("show", "HEAD:a.txt"), "second\n");
      assert.equal(await git("show", "HEAD:.env"), "one\n");
      assert.equal(await git("status", "--short"), " M .env\n?? new.pem\n");
    }, { secrets: SECRET_PATTERNS });
  }
});

Deno.test("commands read an added folder without its secret files, and change nothing there", { ignore }, async () => {
  await withFolder(async (folder) => {
    const lib = `${folder}/lib`, tools = `${folder}/tools`;
    for (const path of [`${lib}/src`, `${tools}/bin`]) await Deno.mkdir(path, { recursive: true });
    for (const path of [`${lib}/src/a.ts`, `${lib}/.env`, `${tools}/bin/cacert.pem`]) {
      await Deno.writeTextFile(path, SECRET);
    }
    const options = { read: [lib, tools], secrets: SECRET_PATTERNS, env: { PATH: `/usr/bin:/bin:${tools}/bin` } };
    await place(async ({ wall, workspace }) => {
      const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
      const show = `cat ${lib}/src/a.ts ${lib}/.env ${tools}/bin/cacert.pem`;
      assert.equal((await wall.spawn(workspace, sh(show), hidden)).stdout, `${SECRET}hidden\n${SECRET}`);
      const seen = { ...own, hideSecrets: { except: [`${lib}/.env`], instead: "hidden\n" } };
      assert.equal((await wall.spawn(workspace, sh(show), seen)).stdout, SECRET.repeat(3));
      for (const change of [`echo x > ${lib}/new`, `echo x > ${lib}/src/a.ts`, `rm ${lib}/.env`, `mkdir ${lib}/d`]) {
        assert.notEqual((await wall.spawn(workspace, sh(change), { ...hidden, write: [workspace] })).code, 0, change);
      }
      assert.equal(await Deno.readTextFile(`${lib}/src/a.ts`), SECRET);
    }, options);
  });
});

Deno.test("an added folder around the workspace opens only for reading", { ignore }, async () => {
  await place(async ({ root, workspace, home }) => {
    await Deno.writeTextFile(`${workspace}/.env`, SECRET);
    const wall = new LinuxWall({
      ...{
        home: null,
        visHome: null,
        read: [root],
        network: false,
        env: { PATH: "/usr/bin:/bin" },
      },
      ...{ secrets: SECRET_PATTERNS, temporary: `${root}/temporary` },
    });
    const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
    const script = `cat ${workspace}/.env ${root}/outside/secret; echo x > new; echo x > ${home}/new`;
    assert.equal((await wall.spawn(workspace, sh(script), hidden)).stdout, `hidden\n${SECRET}`);
    assert.equal(await Deno.readTextFile(`${workspace}/new`), "x\n");
    await assert.rejects(Deno.stat(`${home}/new`));
  });
});

Deno.test("a tracked secret file stays readable if an added folder contains the repository", { ignore }, async () => {
  await place(async ({ root, workspace }) => {
    await Deno.writeTextFile(`${workspace}/cert.pem`, "tracked\n");
    await Deno.writeTextFile(`${workspace}/own.pem`, SECRET);
    await Deno.writeTextFile(`${root}/outside/beside.pem`, SECRET);
    for (const args of [["init", "-q"], ["add", "cert.pem"]]) {
      const { success, stderr } = await new Deno.Command("git", { args, cwd: workspace }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    }
    const wall = new LinuxWall({
      ...{ home: null, visHome: null, read: [root], network: false, env: { PATH: "/usr/bin:/bin" } },
      ...{ secrets: SECRET_PATTERNS, temporary: `${root}/temporary` },
    });
    const script = `cat cert.pem own.pem ${root}/outside/beside.pem`;
    const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
    assert.equal((await wall.spawn(workspace, sh(script), hidden)).stdout, "tracked\nhidden\nhidden\n");
  });
});

Deno.test("commands run after an added folder went away or became a link", { ignore }, async () => {
  await withFolder(async (folder) => {
    const lib = `${folder}/lib`;
    await Deno.mkdir(lib);
    await Deno.writeTextFile(`${lib}/a`, "there\n");
    await place(async ({ wall, workspace }) => {
      const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
      const shown = async () => (await wall.spawn(workspace, sh(`cat ${lib}/a; echo ran`), hidden)).stdout;
      assert.equal(await shown(), "there\nran\n");
      await Deno.rename(lib, `${lib}.old`);
      assert.equal(await shown(), "ran\n");
      await Deno.symlink(`${lib}.old`, lib);
      assert.equal(await shown(), "ran\n");
      await Deno.remove(lib);
      await Deno.rename(`${lib}.old`, lib);
      assert.equal(await shown(), "there\nran\n");
    }, { read: [lib], secrets: SECRET_PATTERNS });
  });
});

Deno.test("in an added folder, patterns with a slash mean absolute paths", { ignore }, async () => {
  await withFolder(async (folder) => {
    const lib = `${folder}/lib`;
    await Deno.mkdir(`${lib}/conf`, { recursive: true });
    for (const name of ["a.txt", "b.txt", "c.txt", "conf/d.txt", "e.pem"]) {
      await Deno.writeTextFile(`${lib}/${name}`, `${name}\n`);
    }
    const secrets = ["*.pem", `${lib}/a.txt`, "*/lib/b.txt", "conf/d.txt", `!${lib}/e.pem`];
    await place(async ({ wall, workspace }) => {
      const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
      const { stdout } = await wall.spawn(workspace, sh(`cd ${lib} && cat a.txt b.txt c.txt conf/d.txt e.pem`), hidden);
      assert.equal(stdout, "hidden\nhidden\nc.txt\nconf/d.txt\ne.pem\n");
    }, { read: [lib], secrets });
  });
});

Deno.test("a secret file that is a link keeps its name and its text", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    await Deno.mkdir(`${workspace}/config`);
    await Deno.writeTextFile(`${workspace}/config/local`, SECRET);
    await Deno.symlink("config/local", `${workspace}/way`);
    await Deno.symlink("way", `${workspace}/.env`);
    const show = "find . -name .git -prune -o -name .vis -prune -o -type f -exec cat {} +";
    const hidden = { ...own, hideSecrets: { except: [], instead: "hidden\n" } };
    const tricks = ["rm .env", "mv .env other", "ln -sfn nothing .env", "ln -sfn nothing way", "mv config moved"];
    for (const trick of [...tricks, "rm config/local", "echo x > config/local"]) {
      await wall.spawn(workspace, sh(trick), hidden);
      assert.equal((await wall.spawn(workspace, sh(show), hidden)).stdout, "hidden\n", trick);
    }
    assert.equal((await wall.spawn(workspace, sh(show), own)).stdout, SECRET);
    const seen = { ...own, hideSecrets: { except: [`${workspace}/config/local`], instead: "hidden\n" } };
    assert.equal((await wall.spawn(workspace, sh(`echo new > config/local; ${show}`), seen)).stdout, "new\n");
  }, { secrets: SECRET_PATTERNS });
});

Deno.test("a secret file stays hidden while another command exchanges its folder", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const hidden = { ...own, hideSecrets: { except: [], instead: "" } };
    await Deno.mkdir(`${workspace}/a`);
    await Deno.mkdir(`${workspace}/node_modules/b`, { recursive: true });
    for (const [folder, text] of [["a", SECRET], ["node_modules/b", "decoy"]]) {
      await Deno.writeTextFile(`${workspace}/${folder}/x.pem`, text ?? "");
    }
    const exchange = `perl -e '$| = 1; my ($a, $b) = ("a", "node_modules/b");
      for (;;) { syscall(${call("renameat2")}, -100, $a, -100, $b, 2) == 0 or die $!; print "up\n" unless $n++ }'`;
    const stop = new AbortController(), up = Promise.withResolvers<void>();
    const running = wall.spawn(workspace, sh(exchange), { ...hidden, stop: stop.signal, onOutput: () => up.resolve() });
    await Promise.race([up.promise, running]);
    const refused =
      /^(?:Cannot run commands: .* is no longer there, and .* may have moved it|the kernel refused to hide )/s;
    for (let count = 0; count < 30; count++) {
      const read = wall.spawn(workspace, sh("for i in 1 2 3 4; do cat a/x.pem node_modules/b/x.pem; done"), hidden);
      const seen = await read.then(({ stdout }) => stdout, (error) => error.message.replace(refused, ""));
      assert.ok(!seen.includes(SECRET) && !seen.includes("Cannot"), seen);
    }
    stop.abort();
    await running;
    const { stdout } = await wall.spawn(workspace, sh("cat a/x.pem node_modules/b/x.pem"), own);
    assert.match(stdout, new RegExp(SECRET));
  }, { secrets: SECRET_PATTERNS });
});

Deno.test("pipes in the place of files that Vis reads stop no command", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const hidden = { ...own, hideSecrets: { except: [], instead: "" } };
    const pipes = ".env key.pem .gitmodules bare/HEAD below/.git/HEAD below/.git/config below/.git/index file/.git";
    await wall.spawn(workspace, sh(`mkdir -p bare/objects bare/refs below/.git file; mkfifo ${pipes}`), hidden);
    // Another command exchanges pipes and files all the time.
    const exchange = `mkdir -p n/.git/objects n/.git/refs n/objects n/refs; echo x > n/HEAD; mkfifo n/pipe
      for f in HEAD index config; do echo ref: refs/heads/main > n/.git/$f; done
      exec perl -e '$| = 1; print "up\n"; my @f = map { "n/.git/$_" } qw(HEAD index config);
      for (;;) { for my $f (@f) { rename $f, "n/kept"; rename "n/pipe", $f; rename $f, "n/pipe"; rename "n/kept", $f } }'`;
    const stop = new AbortController(), up = Promise.withResolvers<void>();
    const running = wall.spawn(workspace, sh(exchange), { ...hidden, stop: stop.signal, onOutput: () => up.resolve() });
    await up.promise;
    for (let count = 0; count < 30; count++) {
      assert.equal((await wall.spawn(workspace, sh("echo ran"), hidden)).stdout, "ran\n");
    }
    stop.abort();
    await running;
  }, { secrets: SECRET_PATTERNS });
});

Deno.test("a folder that is moved while commands begin there takes the wall from none", { ignore }, async () => {
  const folder = await Deno.makeTempDir({ prefix: "vis-moved-" });
  const script = 'case "$PWD" in */moves) cd ..; mv moves gone; "$@"; mv gone moves; exit;; esac; exec "$@"';
  try {
    await place(async ({ wall, workspace }) => {
      await Deno.mkdir(`${workspace}/moves`);
      const begun = wall.spawn(workspace, sh("true"), { cwd: "moves" });
      await assert.rejects(
        begun,
        /^Error: .*the kernel refused to go to the folder for a private file system \(ENOENT: no such file or folder\)/,
      );
      assert.equal((await wall.walls()).whole, true);
      const { stdout } = await wall.spawn(workspace, sh("echo x 2> /dev/null >> .git/config || echo kept"), {
        whole: true,
      });
      assert.equal(stdout, "kept\n");
    }, { launcher: await launcherBehind(script, folder) });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("commands neither read nor change the database of Vis in their workspace", { ignore }, async () => {
  await place(async ({ root, workspace, home, visHome, read }) => {
    await Deno.mkdir(`${workspace}/data`);
    for (const end of ["", "-wal"]) await Deno.writeTextFile(`${workspace}/data/vis.db${end}`, SECRET);
    const wall = (database: string | null) =>
      new LinuxWall({
        ...{ home, visHome, read: [], network: false, env: {}, database },
        temporary: `${root}/temporary`,
      });
    const tries =
      `cat data/*; for end in "" -wal -shm -journal; do echo x >> data/vis.db$end; rm -f data/vis.db$end; done
      mv data away && mkdir data; echo x > data/vis.db-journal; ln data/vis.db name; cp data/vis.db copy; cat name copy`;
    const facts = () => ["", "-wal", "-shm", "-journal"].map((end) => read(`workspace/data/vis.db${end}`));
    const before = facts();
    for (const options of [own, { network: true }]) {
      const { stdout } = await wall(`${workspace}/data/vis.db`).spawn(workspace, sh(tries), options);
      assert.ok(!stdout.includes(SECRET), stdout);
      assert.deepEqual(facts(), before);
    }
    const { stdout } = await wall(null).spawn(workspace, sh(tries), own);
    assert.match(stdout, new RegExp(SECRET));
    assert.notDeepEqual(facts(), before);
  });
});
