import assert from "node:assert/strict";
import { join } from "node:path";
import { setImmediate } from "node:timers";
import { INIT } from "../../../src/sandbox/exec/init.ts";
import { Plan } from "../../../src/sandbox/exec/plan_format.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const ignore = Deno.build.os !== "linux" || !(Deno.build.arch in INIT);
const AT_FDCWD = -100, O_CLOEXEC = 0o2000000, SIGCHLD = 17, EEXIST = 17, ENOENT = 2;
const FAILED = 125;
const TOKEN = "the-token";

interface Place {
  readonly folder: string;
  hasRun(): boolean;
  /** Runs the program that carries out plans, with these bytes on its standard input. */
  run(
    input: Uint8Array<ArrayBuffer>,
  ): Promise<{ readonly code: number; readonly stderr: string; readonly stdout: string }>;
  encoded(plan: Plan, argv?: readonly string[]): Promise<Uint8Array<ArrayBuffer>>;
}

async function withInit(test: (place: Place) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const init = join(folder, "init"), mark = join(folder, "ran");
    await Deno.writeFile(init, Uint8Array.fromBase64(INIT[Deno.build.arch]), { mode: 0o755 });
    await test({
      folder,
      hasRun: () => [...Deno.readDirSync(folder)].some(({ name }) => name === "ran"),
      encoded: async (plan, argv = ["/bin/sh", "-c", `cat; echo "$GIVEN" > ${mark}`]) =>
        await plan.encode({ token: TOKEN, argv, env: ["PATH=/usr/bin:/bin", "GIVEN=a value"] }) ?? new Uint8Array(),
      run: async (input) => {
        const options = { stdin: "piped", stdout: "piped", stderr: "piped", clearEnv: true } as const;
        const child = new Deno.Command(init, options).spawn();
        const writer = child.stdin.getWriter();
        await writer.write(input).then(() => writer.close()).catch(() => {}); // The program may have ended.
        const { code, stdout, stderr } = await child.output();
        const text = (bytes: Uint8Array<ArrayBuffer>): string => new TextDecoder().decode(bytes);
        return { code, stdout: text(stdout), stderr: text(stderr) };
      },
    });
  });
}

Deno.test(
  "a plan is carried out, and what follows it is the program's input",
  { ignore },
  () =>
    withInit(async ({ folder, run, encoded, hasRun }) => {
      const plan = new Plan("failed first");
      for (let times = 0; times < 2; times++) {
        plan.must("failed made", "mkdirat", [AT_FDCWD, `${folder}/made`, 0o755], { or: -EEXIST });
      }
      plan.may("mkdirat", [AT_FDCWD, "/no/such/folder", 0o755]);
      const bytes = await encoded(plan), input = new TextEncoder().encode("for the program");
      const { code, stdout, stderr } = await run(Uint8Array.from([...bytes, ...input]));
      assert.deepEqual([code, stdout, stderr], [0, "for the program", `${TOKEN} begun\n`]);
      assert.ok(Deno.statSync(`${folder}/made`).isDirectory);
      assert.equal(await Deno.readTextFile(`${folder}/ran`), "a value\n");
      assert.ok(hasRun());
    }),
);

Deno.test(
  "a step that fails is said with its errno, and nothing runs after it",
  { ignore },
  () =>
    withInit(async ({ folder, run, encoded, hasRun }) => {
      const plan = new Plan("failed first");
      plan.must("failed Cannot make\nit", "mkdirat", [AT_FDCWD, "/no/such/folder", 0o755], { or: -EEXIST });
      plan.must("failed later", "mkdirat", [AT_FDCWD, `${folder}/later`, 0o755]);
      const { code, stderr } = await run(await encoded(plan));
      assert.deepEqual([code, stderr], [FAILED, `${TOKEN} failed Cannot make it: errno ${ENOENT}\n`]);
      assert.throws(() => Deno.statSync(`${folder}/later`), Deno.errors.NotFound);
      assert.equal(hasRun(), false);
    }),
);

Deno.test(
  "a descriptor that has another number than the plan says is a fault",
  { ignore },
  () =>
    withInit(async ({ folder, run, encoded, hasRun }) => {
      const open = [AT_FDCWD, folder, O_CLOEXEC] as const;
      const plan = new Plan("failed first");
      const first = plan.open("failed one", "openat", open), second = plan.open("failed two", "openat", open);
      plan.close(first);
      assert.deepEqual([first, second, plan.open("failed again", "openat", open)], [3, 4, 3]);
      assert.equal((await run(await encoded(plan, ["/bin/true"]))).code, 0);
      plan.may("openat", open); // The plan does not count it.
      plan.open("failed wrong", "openat", open);
      const { code, stderr } = await run(await encoded(plan));
      assert.deepEqual([code, stderr, hasRun()], [FAILED, `${TOKEN} failed wrong\n`, false]);
    }),
);

Deno.test(
  "bytes that do not differ are a fault, also where nothing was written over them",
  { ignore },
  () =>
    withInit(async ({ folder, run, encoded, hasRun }) => {
      const outcome = async (path: string): Promise<number> => {
        const own = new TextEncoder().encode("other");
        const plan = new Plan("failed first");
        plan.may("readlinkat", [AT_FDCWD, path, own, own.length]);
        plan.must("failed equal", "sameBytes", [own, "other", own.length]);
        return (await run(await encoded(plan))).code;
      };
      await Deno.symlink("other", `${folder}/same`);
      for (const path of [`${folder}/same`, `${folder}/none`]) assert.equal(await outcome(path), FAILED, path);
      assert.equal(hasRun(), false);
      await Deno.symlink("another", `${folder}/different`);
      assert.equal(await outcome(`${folder}/different`), 0);
    }),
);

Deno.test(
  "the process that made another one ends as that does",
  { ignore },
  () =>
    withInit(async ({ run, encoded }) => {
      const ended = async (command: string): Promise<readonly [number, string]> => {
        const plan = new Plan("failed first");
        plan.must("failed clone", "clone", [SIGCHLD, 0, 0, 0, 0]);
        const { code, stderr } = await run(await encoded(plan, ["/bin/sh", "-c", command]));
        return [code, stderr];
      };
      assert.deepEqual(await ended("exit 7"), [7, `${TOKEN} begun\n`]);
      assert.deepEqual(await ended("kill -TERM $$"), [143, `${TOKEN} begun\n${TOKEN} signal 15\n`]);
      assert.deepEqual(await ended("kill -KILL $PPID; sleep 1"), [137, `${TOKEN} begun\n`]);
    }),
);

Deno.test(
  "a plan that is damaged runs nothing",
  { ignore },
  () =>
    withInit(async ({ folder, run, encoded, hasRun }) => {
      const plan = new Plan("failed first");
      plan.must("failed made", "mkdirat", [AT_FDCWD, `${folder}/made`, 0o755]);
      const whole = await encoded(plan);
      const withWord = (at: number, value: number): Uint8Array<ArrayBuffer> => {
        const bytes = whole.slice();
        new DataView(bytes.buffer).setUint32(at, value, true);
        return bytes;
      };
      const image = whole.length - 4;
      const damaged = [
        ...Array.from({ length: 40 }, (_, at) => whole.slice(0, Math.floor(whole.length * at / 40))),
        ...[0, 8, 40, 47, image - 8, image - 1, image + 1, image + 8, 8 << 20, 0xffffffff].map((it) => withWord(0, it)),
        // These change the list of pointers.
        ...[image + 8, image - 4, 0x7ffffff8, 0xffffffff].map((it) => withWord(4, it)),
        ...[image, 0x7fffffff, 0xffffffff].map((it) => withWord(12, it)), // These change the number of pointers.
        ...[image, 0x7fffffff, 0xffffffff].map((it) => withWord(20, it)), // These change the number of steps.
        ...[image, 0x7fffffff, 0xffffffff].map((it) => withWord(28, it)), // These change the token.
      ];
      for (const bytes of damaged) {
        const { code, stdout, stderr } = await run(bytes);
        assert.deepEqual([code, stdout, stderr], [FAILED, "", ""]);
        assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["init"]);
      }
      assert.equal((await run(whole)).code, 0);
      assert.ok(hasRun());
    }),
);

Deno.test("Plan.encode() takes texts of any length up to its limit", async () => {
  const plan = new Plan("failed first");
  const encode = (length: number) => plan.encode({ token: TOKEN, argv: ["x".repeat(length)], env: [] });
  assert.ok(((await encode(7 << 20))?.length ?? 0) > 7 << 20);
  assert.equal(await encode(8 << 20), null);
});

Deno.test("Plan.encode() gives way to other work", async () => {
  const plan = new Plan("failed first");
  for (let at = 0; at < 100_000; at++) plan.may("getpid", [at]);
  let turns = 0;
  setImmediate(() => turns++);
  assert.equal(await plan.encode({ token: TOKEN, argv: [], env: [] }) === null, false);
  assert.equal(turns, 1);
});
