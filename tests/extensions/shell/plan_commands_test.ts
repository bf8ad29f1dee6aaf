import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { join } from "node:path";
import shell from "../../../extensions/shell/mod.ts";
import { start } from "../../../extensions/shell/jobs.ts";
import { run } from "../../../extensions/shell/run.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import type { ProgramWalls } from "../../../src/extension/spawn_types.ts";
import { startEngine } from "../../helpers/engine.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { until } from "../../helpers/until.ts";
import { call } from "../../helpers/system_calls.ts";
import { perl } from "../../processes/_attack.ts";
import { ATTACKS } from "../../processes/_attacks.ts";
import { mayMake, type Place, place } from "../../processes/_place.ts";

const ignore = !mayMake;
const MARK = "== the next attack ==";
const SETXATTR = Deno.build.arch === "aarch64" ? 5 : 188;

function viewOf({ wall, workspace }: Pick<Place, "wall" | "workspace">): EnvironmentView {
  return {
    envId: crypto.randomUUID(),
    conversationId: "c",
    branchId: "b",
    depth: 0,
    workspace,
    onlyReads: true,
    programWalls: () => wall.walls(),
    spawn: (argv, options) => wall.spawn(workspace, argv, options),
    approve: () => assert.fail("A command of a plan needs no question"),
  };
}

/** Ways to change a file, a folder, a link or their attributes. Each prints "got it" if it succeeds. */
const WAYS: readonly string[] = [
  "echo x > new",
  "echo x >> file",
  ": > file",
  "truncate -s 0 file",
  "rm file",
  "rm -r folder",
  "rmdir empty",
  "mv file moved",
  "mv folder moved",
  "mv file $TMPDIR",
  "cp /bin/true new",
  "mkdir new",
  "mkfifo new",
  "ln file new",
  "ln file $TMPDIR/file",
  "ln -s file new",
  "ln -sfn other link",
  "chmod 777 file",
  "chmod 777 .",
  "chown 1:1 file",
  "touch file",
  "touch -h link",
  "touch .",
  "sed -i s/a/b/ file",
  "ln -s $PWD $TMPDIR/in && echo x > $TMPDIR/in/file",
  "echo x > /proc/self/cwd/file",
  "echo x > /proc/self/root$PWD/file",
  "cd folder && echo x > ../file",
  "echo x > .git/config",
  "echo x > .vis/config.jsonc",
  "git init -q .",
  "git config user.name x",
  "{ : >&9; } 9<> file",
  perl('open(F, "<", "file") && chmod(0777, *F) && exit 0; exit 1'),
  perl('open(F, "<", "file") && utime(1, 1, *F) && exit 0; exit 1'),
  perl('open(F, "<", "file") && open(G, ">", "/proc/self/fd/" . fileno(F)) && exit 0; exit 1'),
  perl(`$f = syscall(${call("openat")}, -100, ".", 020200002, 0600); exit($f < 0)`),
  perl(`$r = syscall(${call("renameat2")}, -100, "file", -100, "folder/inner", 2); exit($r < 0)`),
  perl(`$n = "user.x"; $v = "y"; $r = syscall(${SETXATTR}, "file", $n, $v, 1, 0); exit($r < 0)`),
  perl(`open(F, "<", "file"); $a = pack("q", 0x40); exit(!ioctl(F, 0x40086602, $a))`),
  perl('open(F, "+<", "pipe") && syswrite(F, "x") && exit 0; exit 1'),
];

/** Returns everything about the entries of a folder that a program could change, except the times of reading. */
async function imageOf(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const { mode, mtime, ctime, ino, nlink, uid, size } = await Deno.lstat(folder);
  const image: Record<string, unknown> = {
    ".": [mode, mtime?.getTime(), ctime?.getTime(), ino, nlink, uid, size].join(),
  };
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) image[name] = await imageOf(path);
    else {
      const { mode, mtime, ctime, ino, nlink, uid, size } = await Deno.lstat(path);
      const text = isFile ? await Deno.readTextFile(path) : "";
      image[name] = [mode, mtime?.getTime(), ctime?.getTime(), ino, nlink, uid, size, text].join();
    }
  }
  return image;
}

async function fill(workspace: string): Promise<void> {
  await Deno.mkdir(join(workspace, "folder"));
  await Deno.mkdir(join(workspace, "empty"));
  await Deno.writeTextFile(join(workspace, "file"), "a\n");
  await Deno.writeTextFile(join(workspace, "folder/inner"), "b\n");
  assert.ok((await new Deno.Command("mkfifo", { args: [join(workspace, "pipe")] }).output()).success);
}

Deno.test("a command of a plan reads the workspace, writes in $TMPDIR, and changes nothing by any way", {
  ignore,
}, async () => {
  await place(async (there) => {
    const { workspace } = there;
    await fill(workspace);
    const view = viewOf(there), before = await imageOf(workspace);
    const tried = WAYS.map((way, at) => `(${way}) 2>/dev/null && echo "${at} got it"`).join("\n");
    const result = await run(view, `cat file; echo x > $TMPDIR/x && cat $TMPDIR/x\n${tried}\ntrue`);
    assert.equal((result as { stdout: string }).stdout, "a\nx\n");
    assert.deepEqual(await imageOf(workspace), before);
    const [first = ""] = WAYS;
    await run({ ...view, onlyReads: false }, first);
    assert.notDeepEqual(await imageOf(workspace), before, "in another request, the command changes the workspace");
  });
});

Deno.test("a command of a plan does nothing by the attacks on other commands", { ignore }, async () => {
  await place(async (there) => {
    await fill(there.workspace);
    const before = await imageOf(there.workspace);
    // An attack that stays waits for a file that a plan cannot make.
    const tried = ATTACKS.filter(({ name, allowedIn }) => !allowedIn.includes("private") && !name.startsWith("stays"));
    const script = tried.map((attack) => `(\n${attack.command(there)}\n) 2>/dev/null; echo "${MARK}"`).join("\n");
    const { stdout } = await run(viewOf(there), ["/bin/sh", "-c", script], { timeoutMs: 120_000 }) as {
      stdout: string;
    };
    const outputs = stdout.split(`${MARK}\n`);
    assert.equal(outputs.length, tried.length + 1, stdout);
    const got = tried.filter((attack, at) => attack.got({ code: 0, stdout: outputs[at] ?? "" }, there));
    assert.deepEqual(got.map(({ name }) => name), []);
    assert.deepEqual(await imageOf(there.workspace), before);
  });
});

Deno.test("a command of a plan reaches no server of another command or of the user", { ignore }, async () => {
  await place(async (there) => {
    const { wall, workspace } = there;
    const heard: string[] = [];
    const user = Deno.listen({ transport: "unix", path: join(workspace, "user.sock") });
    const datagrams = createSocket("udp4").on("message", () => heard.push("udp"));
    await once(datagrams.bind(0, "127.0.0.1"), "listening");
    const stop = new AbortController(), up = Promise.withResolvers<void>();
    const serve =
      `use Socket; socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(8123, INADDR_LOOPBACK)); listen(S, 5);
      socket(U, AF_UNIX, SOCK_DGRAM, 0); bind(U, sockaddr_un("datagrams.sock"));
      $| = 1; print "up\\n"; if (fork) { accept(C, S); print "heard tcp\\n" } else { recv(U, $x, 9, 0); print "heard unix\\n" }
      sleep 60`;
    const server = wall.spawn(workspace, ["/usr/bin/perl", "-e", serve], {
      loopback: "c",
      stop: stop.signal,
      onOutput: (_output, bytes) => {
        const text = new TextDecoder().decode(bytes);
        up.resolve();
        if (text.includes("heard")) heard.push(text);
      },
    });
    await Promise.race([up.promise, server]);
    const client = (given: string): string => perl(`use Socket; ${given}`);
    const pair = `socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) or exit 1; send(A, "x", 0, sockaddr_un("datagrams.sock"))`;
    const tries = [
      client("socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, sockaddr_in(8123, INADDR_LOOPBACK)) || exit 1"),
      client(
        `socket(S, AF_INET, SOCK_DGRAM, 0); send(S, "x", 0, sockaddr_in(${datagrams.address().port}, INADDR_LOOPBACK)); exit 1`,
      ),
      client('socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("user.sock")) || exit 1'),
      client('socket(S, AF_UNIX, SOCK_DGRAM, 0) && send(S, "x", 0, sockaddr_un("datagrams.sock")) || exit 1'),
      client(`${pair} || exit 1`),
    ];
    try {
      const script = tries.map((one, at) => `(${one}) 2>/dev/null && echo "${at} got it"`).join("\n");
      const own = client(
        `socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, sockaddr_in(8123, INADDR_LOOPBACK)) && listen(S, 1);
         socket(C, AF_INET, SOCK_STREAM, 0) && connect(C, sockaddr_in(8123, INADDR_LOOPBACK)) && print "own server"`,
      );
      const { stdout } = await run(viewOf(there), `${script}\n${own}\ntrue`) as { stdout: string };
      assert.equal(stdout, "own server");
      assert.deepEqual(heard, []);
      // In another request, a command reaches these servers.
      await run({ ...viewOf(there), onlyReads: false }, `${tries[0]}; ${tries[4]}`);
      await until(() => heard.join("").split("\n").length === 3, () => heard.join());
    } finally {
      stop.abort();
      await server;
      datagrams.close();
      user.close();
    }
  });
});

Deno.test("a plan refuses network, write and background commands with the way out, and any command without a whole wall", async () => {
  const walls: ProgramWalls = {
    ...{ network: true, whole: true, reason: "", loopback: true, unix: true, hides: true, leftOut: [] },
  };
  const env: EnvironmentView = {
    ...viewOf({ wall: undefined as never, workspace: "/w" }),
    programWalls: () => Promise.resolve(walls),
    spawn: () => assert.fail("No command may run"),
  };
  const leave = /a plan, a review and a \/btw question change nothing; leave .* out, or describe the command/;
  await assert.rejects(run(env, "npm ci", { network: true }), leave);
  await assert.rejects(run(env, "make", { write: ["/tmp"] }), leave);
  await assert.rejects(run(env, "make", { network: true, write: [".git"] }), /with network and write in this request/);
  await assert.rejects(
    start(env, "npm run dev"),
    /background command in this request: .*; use shell\.run, or describe/,
  );
  const broken = { ...env, programWalls: () => Promise.resolve({ ...walls, whole: false, reason: "no namespaces" }) };
  await assert.rejects(run(broken, "true"), /the command wall is incomplete \(no namespaces\); describe the command/);
});

Deno.test("in a request for a plan, a command runs and the prompt names its limits; the next request has none", {
  ignore,
}, async () => {
  await place(async ({ wall, workspace }) => {
    await using engine = await startEngine([
      replyJson('const a = await shell.run("echo ran; touch new"); [a.stdout, a.code, a.hint]'),
      replyJson('await shell.start("sleep 60")'),
      final("The plan"),
      replyJson('const b = await shell.run("touch new"); b.code'),
      final("Made"),
    ], {
      ...{ workspace, extensions: [shell], settings: { budget: 10 } },
      spawn: (folder, argv, options) => wall.spawn(folder, argv, options),
      programWalls: () => wall.walls(),
    });
    const options = { signal: new AbortController().signal, emit: () => {} };
    await engine.conversations.ask(engine.branch, "Plan it", { ...options, only: "plan" });
    assert.match(
      engine.provider.requests[0]?.texts[0] ?? "",
      /change \$TMPDIR only, (?:reach localhost only|have no network); no network, write or start in this/,
    );
    assert.match(
      engine.context(1),
      /"ran\\n",\s*1,\s*"In this request, commands see [^"]* reach no servers beyond the command wall, and write in \$TMPDIR only/,
    );
    assert.match(engine.context(2), /Cannot start a background command in this request/);
    await assert.rejects(Deno.stat(join(workspace, "new")), Deno.errors.NotFound);
    await engine.conversations.ask(engine.branch, "Do it", options);
    assert.doesNotMatch(engine.provider.requests.at(-1)?.texts[0] ?? "", /\$TMPDIR only/);
    assert.ok((await Deno.stat(join(workspace, "new"))).isFile);
  });
});
