import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { LinuxWall } from "../../../src/processes/linux/linux_wall.ts";
import { heldBytes } from "../../helpers/sandbox.ts";
import { isNamed } from "../lives.ts";
import { mayMake, missing, place, SECRET } from "../_place.ts";
import { wallProcess } from "../_wall_process.ts";
import { call } from "../../helpers/system_calls.ts";

const ignore = missing !== "";
const CONFIG = "[core]\n\tbare = false\n";
const sh = (command: string): string[] => ["/bin/sh", "-c", command];

Deno.test("LinuxWall.spawn() gives outputs, code and signal", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const failed = await wall.spawn(workspace, sh("echo out; echo err >&2; exit 3"));
    assert.deepEqual(
      [failed.code, failed.signal, failed.stdout, failed.stderr, failed.timedOut, failed.truncated, failed.notes],
      [3, null, "out\n", "err\n", false, false, []],
    );
    const killed = await wall.spawn(workspace, sh("kill -TERM $$"));
    assert.deepEqual([killed.code, killed.signal], [143, "SIGTERM"]);
    const piped = await wall.spawn(workspace, ["cat"], { input: "a\nb" });
    assert.equal(piped.stdout, "a\nb");
    // A broken pipe ends a program as usual, although the runtime ignores that signal.
    assert.equal((await wall.spawn(workspace, sh("yes | head -n 1"))).stdout, "y\n");
  });
});

Deno.test("LinuxWall.spawn() gives the code first: a reader may see only the beginning", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const { code, ...rest } = await wall.spawn(workspace, ["sh", "-c", "exit 3"]);
    assert.equal(code, 3);
    assert.deepEqual(["code", ...Object.keys(rest)].slice(0, 4), ["code", "signal", "stdout", "stderr"]);
    assert.equal(Object.keys(await wall.spawn(workspace, ["true"]))[0], "code");
  });
});

Deno.test("LinuxWall.spawn() lets a program work in its workspace and its temporary folder", { ignore }, async () => {
  await place(async ({ wall, workspace, root, read }) => {
    const command =
      "mkdir -p a/b && echo x > a/b/c && mv a/b d && echo y > $TMPDIR/f && cat $TMPDIR/f d/c && ls /etc > l";
    const { stdout, stderr, notes } = await wall.spawn(workspace, sh(command));
    assert.deepEqual([stdout, stderr, notes], ["y\nx\n", "", []]);
    assert.ok((read("workspace/l") ?? "").length > 0);
    assert.deepEqual([...Deno.readDirSync(`${root}/temporary`)], []);
    const inner = await wall.spawn(workspace, ["pwd"], { cwd: "d" });
    assert.equal(inner.stdout, `${workspace}/d\n`);
  });
});

Deno.test("LinuxWall.spawn() keeps a limit that is already lower than its own", { ignore }, async () => {
  const limited = 'ulimit -S -n 300 && ulimit -H -n 300 && ulimit -f 10000000 && exec "$0" "$@"';
  const code = `const { stdout } = await wall.spawn(Deno.args[0], ["/bin/sh", "-c", Deno.args[1]]);
    Deno.stdout.writeSync(new TextEncoder().encode(stdout))`;
  await place(async ({ workspace }) => {
    const limits = "ulimit -H -n; ulimit -n; ulimit -f; ulimit -t";
    const child = await wallProcess(code, [workspace, limits], { through: ["/bin/sh", "-c", limited] });
    const { stdout } = await child.output();
    assert.equal(new TextDecoder().decode(stdout), `300\n300\n10000000\n${24 * 3600}\n`);
  });
});

Deno.test("LinuxWall.spawn() works where the system runs nothing from memory", {
  ignore: !mayMake || Deno.uid() !== 0 || !existsSync("/proc/sys/vm/memfd_noexec"),
}, async () => {
  const off = 'echo 2 > /proc/sys/vm/memfd_noexec && exec "$@"';
  const through = ["unshare", "--pid", "--fork", "--mount-proc", "/bin/sh", "-c", off, "sh"];
  const code = 'console.log((await wall.spawn(Deno.args[0], ["cat", "/proc/sys/vm/memfd_noexec"])).stdout)';
  await place(async ({ workspace }) => {
    const { stdout, stderr } = await (await wallProcess(code, [workspace], { through })).output();
    assert.equal(new TextDecoder().decode(stdout).trim(), "2", new TextDecoder().decode(stderr));
  });
});

Deno.test("LinuxWall.spawn() passes a short list of variables and the requested ones", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const { stdout } = await wall.spawn(workspace, ["env"], { env: { ASKED: "1" } });
    const names = stdout.trim().split("\n").map((line) => line.split("=")[0]).sort();
    assert.deepEqual(names, ["ASKED", "GIT_OPTIONAL_LOCKS", "HOME", "LANG", "PATH", "TERM", "TMPDIR"]);
  });
});

Deno.test("LinuxWall.spawn() ends a program and its children at its time limit", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const command = "echo begun; setsid sleep 906.2 & sleep 906.2";
    for (let timeoutMs = 2_000, stdout = ""; stdout === ""; timeoutMs *= 3) {
      assert.ok(timeoutMs < 60_000, "it never began");
      const result = await wall.spawn(workspace, sh(command), { timeoutMs });
      assert.deepEqual([result.timedOut, result.signal], [true, "SIGKILL"]);
      assert.ok(result.ms < timeoutMs + 60_000);
      ({ stdout } = result);
      assert.match(stdout, /^(?:begun\n)?$/);
    }
  });
});

Deno.test("LinuxWall.spawn() rejects with the reason of its signal", { ignore }, async () => {
  await place(async ({ wall, workspace, read }) => {
    const signal = AbortSignal.timeout(250);
    await assert.rejects(wall.spawn(workspace, sh("sleep 1; echo x > late"), { signal }), { name: "TimeoutError" });
    assert.equal(read("workspace/late"), null);
    await assert.rejects(wall.spawn(workspace, ["true"], { signal: AbortSignal.abort(new Error("Over")) }), /Over/);
  });
});

Deno.test("LinuxWall.spawn() keeps begin and end of a flood", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const before = heldBytes();
    const flood = "echo begin; head -c 100000000 /dev/zero; echo end";
    const { stdout, truncated } = await wall.spawn(workspace, sh(flood), { maxBytes: 1000 });
    assert.ok(truncated && stdout.length < 1100);
    assert.match(stdout, /^begin\n\0+\n\[Vis omits \d+ bytes\]\n\0+end\n$/);
    assert.ok(heldBytes() - before < 80 << 20);
    const print = sh("printf 'Gr\\366\\337e'; printf 'f\\374r' >&2");
    const latin = await wall.spawn(workspace, print, { guessEncoding: true });
    assert.deepEqual([latin.stdout, latin.stderr], ["Größe", "für"]);
    assert.deepEqual(latin.notes, ["stdout", "stderr"].map((one) => `${one} is read as windows-1252, a guess`));
  });
});

/** The program starts processes without end, but never exceeds the machine's capacity if the wall fails. */
Deno.test("LinuxWall.spawn() bounds how many processes a program has", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const many = "i=0; while [ $i -lt 3000 ]; do sleep 907.4 & i=$((i+1)); done; wait";
    const result = await wall.spawn(workspace, sh(many), { timeoutMs: 600_000 });
    assert.ok(
      !result.timedOut && (result.signal === "SIGKILL" || result.code !== 0 || result.notes.length > 0),
      JSON.stringify(result),
    );
    const left = await new Deno.Command("/bin/sh", { args: ["-c", "ps -e -o args= | grep -c '^sleep 907.4$'"] })
      .output();
    assert.equal(new TextDecoder().decode(left.stdout).trim(), "0");
  });
});

Deno.test("LinuxWall.spawn() refuses folders that are not the program's", { ignore }, async () => {
  await place(async ({ wall, workspace, home, visHome, outside }) => {
    await Deno.symlink(outside, `${workspace}/out`);
    for (const cwd of ["..", "out", outside]) {
      await assert.rejects(wall.spawn(workspace, ["true"], { cwd }), /: the folder is outside \S+; name one inside$/);
    }
    await assert.rejects(wall.spawn(workspace, ["true"], { cwd: "nowhere" }), /the folder does not exist/);
    await assert.rejects(wall.spawn(home, ["true"]), /is your home folder; start Vis in another folder/);
    await assert.rejects(wall.spawn(visHome, ["true"]), /is \S+, the folder of Vis/);
  });
});

Deno.test(
  "LinuxWall.spawn() refuses what is no program, and never runs it without the wall",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      const printed: string[] = [];
      const onOutput = (_output: string, bytes: Uint8Array): void => void printed.push(new TextDecoder().decode(bytes));
      await assert.rejects(
        wall.spawn(workspace, ["no-such-program"], { onOutput }),
        /^Error: Cannot run no-such-program: the program does not exist/,
      );
      assert.deepEqual(printed, []);
      await assert.rejects(wall.spawn(workspace, ["echo", "x".repeat(200_000)]), {
        message:
          /^Cannot run echo: an argument or an environment variable is longer than 128 KiB, or all together are too long for the system/,
      });
      await assert.rejects(wall.spawn(workspace, ["echo", ...Array(90).fill("x".repeat(100_000))]), {
        message: /^Cannot run echo: an argument or an environment variable is longer than 128 KiB/,
      });
      await assert.rejects(wall.spawn(workspace, []), /Cannot run a command: it is empty/);
      await assert.rejects(wall.spawn(workspace, ["a\0b"]), /NUL/);
      await assert.rejects(wall.spawn(workspace, ["true"], { timeoutMs: 0 }), /Cannot run a command for 0 ms/);
    });
  },
);

Deno.test(
  "LinuxWall.spawn() reads what it was told to, and nothing that would open the home folder",
  { ignore },
  async () => {
    await place(async ({ workspace, home, root, outside }) => {
      await place(async ({ wall }) => {
        assert.equal((await wall.spawn(workspace, ["cat", `${outside}/secret`])).stdout, SECRET);
        assert.notEqual((await wall.spawn(workspace, ["touch", `${outside}/new`])).code, 0);
      }, { read: [outside] });
      for (const path of [home, root, "/", "relative", `${root}/nothing`]) {
        await place(
          async ({ wall }) => await assert.rejects(wall.spawn(workspace, ["true"]), /Cannot run commands/),
          { read: [path], home, visHome: `${home}/.vis` },
        );
      }
    });
  },
);

Deno.test("LinuxWall.spawn() with network permits only TCP and UDP", { ignore }, async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = listener.accept().then(async (connection) => {
    await connection.write(new TextEncoder().encode("hello"));
    connection.close();
  });
  await place(async ({ wall, workspace }) => {
    const port = listener.addr.port;
    const code = `use IO::Socket::INET; $s = IO::Socket::INET->new("127.0.0.1:${port}") or die; print <$s>`;
    assert.equal((await wall.spawn(workspace, ["/usr/bin/perl", "-e", code])).stdout, "hello");
    await served;
    for (
      const [family, type, protocol] of [[1, 1, 0], [1, 2, 0], [16, 3, 0], [2, 1, 262], [2, 2, 1], [2, 3, 6], [
        17,
        3,
        0,
      ]]
    ) {
      const probe = `print syscall(${call("socket")}, ${family}, ${type}, ${protocol})`;
      assert.equal((await wall.spawn(workspace, ["/usr/bin/perl", "-e", probe])).stdout, "-1");
    }
  }, { network: true });
  listener.close();
});

Deno.test("LinuxWall.spawn() keeps the repository and .vis read-only", { ignore: !mayMake }, async () => {
  await place(async ({ wall, workspace, read }) => {
    const evil = ".git/config .git/hooks/pre-push .git/new .vis/config.jsonc .vis/new";
    const { stdout, stderr, notes } = await wall.spawn(
      workspace,
      sh(`for f in ${evil}; do echo evil > $f; done; cat .git/config; rm -rf .git .vis; mv .git old; mv .vis old`),
    );
    assert.deepEqual([stdout, notes], [CONFIG, []]);
    assert.equal(stderr.match(/Read-only file system/g)?.length, 5 + 4, stderr);
    assert.equal(stderr.match(/Device or resource busy/g)?.length, 2, stderr);
    assert.equal(read("workspace/.git/config"), CONFIG);
    const named = await wall.spawn(workspace, sh("echo x > .git/new; echo x > .vis/new; cat .git/new"), {
      write: [workspace, `${workspace}/.git`],
    });
    assert.deepEqual([named.stdout, read("workspace/.vis/new")], ["x\n", null]);
  });
});

Deno.test("LinuxWall.spawn() keeps repositories in other folders that a program may change", {
  ignore: !mayMake,
}, async () => {
  await place(async ({ wall, workspace, outside, root }) => {
    for (const path of [`${outside}/below`, workspace]) {
      await Deno.mkdir(`${outside}/.vis`, { recursive: true });
      await Deno.mkdir(`${path}/.git`, { recursive: true });
      await Deno.writeTextFile(`${path}/.git/HEAD`, "ref: refs/heads/main\n");
    }
    const command = `cd ${root}/outside; for f in a .vis/a below/.git/a below/a; do echo x > $f; done`;
    const { stderr } = await wall.spawn(workspace, sh(command), { write: [workspace, outside] });
    assert.deepEqual(stderr.match(/[^ ]+: Read-only/g), [".vis/a: Read-only", "below/.git/a: Read-only"]);
    assert.ok(existsSync(`${outside}/a`) && existsSync(`${outside}/below/a`));
    const named = await wall.spawn(workspace, sh(command), { write: [workspace, outside, `${outside}/below/.git`] });
    assert.deepEqual(named.stderr.match(/[^ ]+: Read-only/g), [".vis/a: Read-only"]);
  });
});

Deno.test(
  "LinuxWall.spawn() says what git obeys after a command that could change it",
  { ignore: !mayMake },
  async () => {
    await place(async ({ wall, workspace }) => {
      const evil =
        "printf '[core]\\nfsmonitor = x\\n[user]\\nname = Ada\\n' >> .git/config; echo x > .git/hooks/pre-commit";
      const write = [workspace, `${workspace}/.git`];
      const { obeyed } = await wall.spawn(workspace, sh(evil), { write });
      assert.deepEqual(obeyed, ["core.fsmonitor = x", "hook pre-commit"]);
      assert.equal((await wall.spawn(workspace, sh("echo x > .git/index"), { write })).obeyed, undefined);
      const kept = await wall.spawn(workspace, sh("echo x > .git/index && echo x > .git/config"), {
        write,
        keep: [`${workspace}/.git/config`],
      });
      assert.match(kept.stderr, /\.git\/config: Read-only file system/);
    });
  },
);

Deno.test(
  "LinuxWall.spawn() shows no HEAD at the top beside a repository",
  { ignore: !mayMake },
  async () => {
    await place(async ({ wall, workspace }) => {
      const seen = async () => (await wall.spawn(workspace, sh("ls"))).stdout;
      assert.equal(await seen(), "HEAD\nlink\n", "git does not take this .git, and would look at the workspace itself");
      for (const name of ["objects", "refs"]) await Deno.mkdir(`${workspace}/.git/${name}`);
      assert.equal(await seen(), "link\n");
      await wall.spawn(workspace, sh("mkdir objects refs; cp .git/HEAD HEAD"));
      const { stdout } = await wall.spawn(workspace, sh("mkdir .git/x || echo no"));
      assert.equal(stdout, "no\n", "what looks like a repository at the top opens nothing");
      await Deno.writeTextFile(`${workspace}/.git/HEAD`, "broken\n");
      await Deno.remove(`${workspace}/HEAD`);
      assert.match((await wall.spawn(workspace, sh("cp .git/HEAD HEAD"))).stderr, /Read-only file system/);
    });
  },
);

Deno.test("LinuxWall.spawn() names the repositories that a command made", { ignore: !mayMake }, async () => {
  await place(async ({ wall, workspace }) => {
    const made = async (script: string) => (await wall.spawn(workspace, sh(script))).repositories;
    assert.equal(await made("mkdir a"), undefined);
    assert.deepEqual(await made("mkdir -p a/b/.git x.git/objects x.git/refs; echo x > x.git/HEAD"), ["x.git", "a/b"]);
    assert.equal(await made("mkdir c"), undefined);
    const linked =
      "mkdir -p o/objects o/refs d e/objects e/refs; echo x > d/HEAD; echo ../o > d/commondir; ln -s refs/x e/HEAD";
    assert.deepEqual((await made(linked))?.toSorted(), ["d", "e"]);
    // A placeholder of Vis looks like this folder.
    assert.equal(await made("mkdir -p f/.git; chmod 1755 f/.git"), undefined);
    assert.deepEqual(await made("echo x > f/.git/HEAD"), ["f"]);
  });
});

Deno.test("LinuxWall.spawn() leaves nothing where a repository could be", { ignore: !mayMake }, async () => {
  await place(async ({ wall, workspace, read }) => {
    await Deno.remove(`${workspace}/.git`, { recursive: true });
    const up = Promise.withResolvers<void>(), stop = new AbortController();
    const long = wall.spawn(workspace, sh("echo up; while sleep 0.02; do mkdir -p .git/hooks && echo made; done"), {
      onOutput: () => up.resolve(),
      stop: stop.signal,
    });
    await up.promise;
    const { stdout, stderr } = await wall.spawn(workspace, sh("rmdir .git; mkdir .git/x || echo no"));
    assert.deepEqual([stdout, read("workspace/.git/x")], ["no\n", null], stderr);
    assert.equal(Deno.lstatSync(`${workspace}/.git`).isDirectory, true, "another command still needs it");
    stop.abort();
    assert.equal((await long).stdout, "up\n");
    assert.throws(() => Deno.lstatSync(`${workspace}/.git`), Deno.errors.NotFound);
    const write = [workspace, `${workspace}/.git`];
    await wall.spawn(workspace, sh("mkdir .git; echo x > .git/HEAD"), { write });
    assert.equal(read("workspace/.git/HEAD"), "x\n");
  });
});

Deno.test("LinuxWall.spawn() leaves the programs of other calls alone", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const long = wall.spawn(workspace, sh("(setsid sleep 0.6; echo x > alive) & sleep 0.9; cat alive"));
    await wall.spawn(workspace, sh("setsid sleep 30 &"));
    assert.equal((await long).stdout, "x\n");
  });
});

Deno.test("LinuxWall.spawn() asks a program to end, and makes it where it does not", { ignore }, async () => {
  await place(async ({ wall, workspace, read }) => {
    const ended = async (command: string) => {
      const stop = new AbortController();
      const onOutput = (): void => stop.abort();
      return await wall.spawn(workspace, sh(command), { stop: stop.signal, onOutput });
    };
    const polite = await ended("trap 'echo bye > bye; exit 7' TERM; echo on; while :; do sleep 0.02; done");
    assert.deepEqual([polite.code, read("workspace/bye")], [7, "bye\n"]);
    const deaf = await ended("trap '' TERM; setsid sleep 907.1 & echo on; while :; do sleep 0.02; done");
    assert.deepEqual([deaf.signal, deaf.timedOut], ["SIGKILL", false]);
    const early = await wall.spawn(workspace, sh("echo x > late; sleep 906.3"), { stop: AbortSignal.abort() });
    assert.ok(early.signal !== null && early.ms < 60_000);
    assert.equal(read("workspace/late"), null);
  });
});

Deno.test("LinuxWall.spawn() takes a stream as input, and gives outputs as they come", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const writer = writable.getWriter();
    const got: string[] = [];
    const running = wall.spawn(workspace, ["cat"], {
      input: readable,
      onOutput: (output, bytes) => {
        got.push(`${output} ${new TextDecoder().decode(bytes)}`);
        if (got.length < 3) void writer.write(new TextEncoder().encode(String(got.length)));
        else void writer.close();
      },
    });
    await writer.write(new TextEncoder().encode("0"));
    assert.equal((await running).stdout, "012");
    assert.deepEqual(got, ["stdout 0", "stdout 1", "stdout 2"]);
  });
});

Deno.test("LinuxWall.spawn() puts no variable of a program into a list of processes", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
    const value = crypto.randomUUID(), argument = crypto.randomUUID();
    const listed: boolean[] = [];
    const { stdout } = await wall.spawn(workspace, [...sh('echo "$ASKED"; cat'), argument], {
      env: { ASKED: value },
      input: readable,
      onOutput: () => {
        listed.push(isNamed(argument), isNamed(value));
        void writable.close();
      },
    });
    assert.equal(stdout, `${value}\n`);
    assert.deepEqual(listed, [true, false]);
  });
});

Deno.test("LinuxWall.spawn() gives one program less than others", { ignore }, async () => {
  await place(async ({ wall, workspace, outside, read }) => {
    const nothing = { write: [], network: false };
    const { stdout } = await wall.spawn(
      workspace,
      sh("cat .vis/config.jsonc; echo x > new; echo x > $TMPDIR/x && echo own"),
      nothing,
    );
    assert.deepEqual([stdout, read("workspace/new")], ["{}\nown\n", null]);
    await Deno.mkdir(`${workspace}/part`);
    await wall.spawn(workspace, sh("echo x > part/a; echo x > new"), { write: [`${workspace}/part`] });
    assert.deepEqual([read("workspace/part/a"), read("workspace/new")], ["x\n", null]);
    const more = await wall.spawn(workspace, sh(`cat ${outside}/secret; echo x >> ${outside}/secret`), {
      read: [outside],
    });
    assert.deepEqual([more.stdout, read("outside/secret")], [SECRET, SECRET]);
    await assert.rejects(
      wall.spawn(workspace, ["true"], { write: [`${workspace}/none`] }),
      /not an absolute path of an existing/,
    );
    await assert.rejects(wall.spawn(workspace, ["true"], { read: [".."] }), /not an absolute path of an existing/);
    await Deno.symlink(outside, `${workspace}/part/out`);
    for (const paths of [{ write: [`${workspace}/part/out`] }, { read: [`${workspace}/part/out/secret`] }]) {
      await assert.rejects(wall.spawn(workspace, ["true"], paths), /leads out of the workspace/);
    }
  }, { network: true });
});

Deno.test("LinuxWall.spawn() without a folder of the workspace runs none of its programs", { ignore }, async () => {
  await place(async ({ root, home, visHome }) => {
    const workspace = `${home}/project`, elsewhere = `${home}/tools`;
    for (const folder of [`${workspace}/bin`, `${workspace}/jdk`, elsewhere]) {
      await Deno.mkdir(folder, { recursive: true });
    }
    for (const name of ["git", "env", "pwd"]) {
      await Deno.writeTextFile(`${workspace}/bin/${name}`, "#!/bin/sh\necho planted\n", { mode: 0o755 });
    }
    await Deno.symlink(`${workspace}/bin`, `${home}/link`);
    await Deno.symlink(elsewhere, `${workspace}/way`);
    const named = [`${workspace}/bin`, `${home}/link`, `${workspace}/way`, elsewhere];
    const options = { home, visHome, read: [], network: false };
    const env = { PATH: [...named, "/usr/bin", "/bin"].join(":"), JAVA_HOME: `${workspace}/jdk`, NODE_ENV: "test" };
    const wall = new LinuxWall({ ...options, env, temporary: `${root}/temporary` });
    // With a folder of the workspace, the user's PATH determines the programs.
    assert.equal((await wall.spawn(workspace, ["git"])).stdout, "planted\n");
    assert.match((await wall.spawn(workspace, ["/usr/bin/env"])).stdout, /^JAVA_HOME=/m);

    const { stdout } = await wall.spawn(workspace, ["env"], { cwd: null });
    const variables = new Map(stdout.trim().split("\n").map((line) => line.split("=", 2) as [string, string]));
    const usual = new Set(["/usr/bin", "/bin"].map((path) => Deno.realPathSync(path)));
    assert.equal(variables.get("PATH"), [elsewhere, ...usual].join(":"));
    assert.deepEqual([variables.get("JAVA_HOME"), variables.get("NODE_ENV")], [undefined, "test"]);
    const started = await wall.spawn(workspace, sh("pwd; echo $HOME; touch made; ls"), { cwd: null });
    assert.match(started.stdout, /^(.*\/temporary\/vis-command-.*)\n\1\nmade\n$/);

    // The folders around a temporary folder in the workspace belong to the workspace.
    await Deno.mkdir(`${workspace}/temporary`);
    const inside = new LinuxWall({ ...options, env, temporary: `${workspace}/temporary` });
    assert.equal((await inside.spawn(workspace, ["pwd"], { cwd: null })).stdout, "/\n");
    const only = new LinuxWall({ ...options, env: { PATH: `${workspace}/bin` }, temporary: `${root}/temporary` });
    assert.match((await only.spawn(workspace, ["pwd"], { cwd: null })).stdout, /^\/.*vis-command/);
  });
});
