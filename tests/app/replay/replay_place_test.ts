import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { thisProcess } from "../../../src/app/session/process_owner.ts";
import { replayPlace, type ReplayPlaceParts } from "../../../src/app/session/replay_place.ts";
import { Cancelled, UsageError } from "../../../src/domain/errors.ts";
import type { ReplayPlace, ReplayRequest } from "../../../src/domain/records/recording.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const UNIX = Deno.build.os !== "windows";
const GONE = { ...thisProcess(), pid: 1 << 22, started: "1" };
const ELSEWHERE = { ...GONE, space: "another" };

interface Rig {
  readonly workspace: string;
  readonly home: string;
  readonly temporary: string;
  place(request?: Partial<ReplayRequest>, parts?: Partial<ReplayPlaceParts>): Promise<ReplayPlace>;
  left(): Promise<readonly string[]>;
}

function withRig(work: (rig: Rig) => Promise<void>): () => Promise<void> {
  return () =>
    withFolder(async (folder) => {
      const at = (name: string): string => join(folder, name);
      const [workspace, home, temporary] = [at("work space"), at("vis"), at("tmp")];
      for (const path of [workspace, home, temporary]) await Deno.mkdir(path);
      const { signal } = new AbortController();
      await work({
        ...{ workspace, home, temporary },
        place: (request, parts) =>
          replayPlace({ cwd: workspace, recorded: workspace, inPlace: false, signal, ...request }, {
            home,
            temporary,
            ...parts,
          }),
        left: async () => (await Array.fromAsync(Deno.readDir(temporary), ({ name }) => name)).sort(),
      });
    });
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}

Deno.test(
  "replayPlace() copies files, folders, modes and times, and removes the copy",
  withRig(async ({ workspace, place, left }) => {
    await write(join(workspace, "a.txt"), "one");
    await write(join(workspace, ".git/objects/ab"), "object");
    await Deno.mkdir(join(workspace, "empty"));
    const then = new Date(1_600_000_000_000);
    await Deno.utime(join(workspace, "a.txt"), then, then);
    if (UNIX) await Deno.chmod(join(workspace, "a.txt"), 0o750);
    const { workspace: copy, copied, close } = await place();
    assert.notEqual(copy, workspace);
    assert.equal(await Deno.readTextFile(join(copy, "a.txt")), "one");
    assert.equal(await Deno.readTextFile(join(copy, ".git/objects/ab")), "object");
    assert.ok((await Deno.stat(join(copy, "empty"))).isDirectory);
    const { mtime, mode } = await Deno.stat(join(copy, "a.txt"));
    assert.deepEqual(mtime, then);
    if (UNIX) assert.equal((mode ?? 0) & 0o777, 0o750);
    assert.deepEqual(copied, { from: workspace, files: 2, bytes: 9, leftOut: 0 });
    await Deno.writeTextFile(join(copy, "a.txt"), "two");
    assert.equal(await Deno.readTextFile(join(workspace, "a.txt")), "one");
    await close();
    assert.deepEqual(await left(), []);
  }),
);

Deno.test(
  "replayPlace() shares no file with the workspace: a write through any name leaves the original unchanged",
  withRig(async ({ workspace, place }) => {
    await write(join(workspace, "a"), "one");
    await Deno.link(join(workspace, "a"), join(workspace, "b"));
    const { workspace: copy, close } = await place();
    for (const name of ["a", "b"]) await Deno.writeTextFile(join(copy, name), "changed");
    assert.equal(await Deno.readTextFile(join(workspace, "a")), "one");
    await close();
  }),
);

Deno.test({
  name: "replayPlace() redirects links into the workspace to the copy, and keeps all other links",
  ignore: !UNIX,
  fn: withRig(async ({ workspace, place }) => {
    const outside = join(dirname(workspace), "outside");
    await write(outside, "outside");
    await write(join(workspace, "sub/file"), "one");
    const links = {
      "relative": "sub/file",
      "sub/up": "../sub",
      "absolute": join(workspace, "sub/file"),
      "all": workspace,
      "out": outside,
      "sub/out": "../../outside",
      "broken": "nowhere",
    };
    for (const [name, target] of Object.entries(links)) await Deno.symlink(target, join(workspace, name));
    const { workspace: copy, close } = await place();
    const told = async (name: string) => await Deno.readLink(join(copy, name));
    assert.deepEqual(await Promise.all(Object.keys(links).map(told)), [
      "sub/file",
      "../sub",
      join(copy, "sub/file"),
      copy,
      outside,
      outside,
      "nowhere",
    ]);
    await Deno.writeTextFile(join(copy, "absolute"), "changed");
    assert.equal(await Deno.readTextFile(join(workspace, "sub/file")), "one");
    await close();
    assert.equal(await Deno.readTextFile(outside), "outside");
  }),
});

Deno.test({
  name: "replayPlace() omits sockets and pipes, and reports their number",
  ignore: Deno.build.os !== "linux",
  fn: withRig(async ({ workspace, place }) => {
    await write(join(workspace, "a"), "one");
    using _socket = Deno.listen({ transport: "unix", path: join(workspace, "s") });
    await new Deno.Command("mkfifo", { args: [join(workspace, "p")] }).output();
    const { workspace: copy, copied, close } = await place();
    assert.equal(copied?.leftOut, 2);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(copy), ({ name }) => name), ["a"]);
    await close();
  }),
});

Deno.test({
  name: "replayPlace() copies and removes folders whose permissions forbid adding and removing entries",
  ignore: !UNIX,
  fn: withRig(async ({ workspace, place, left }) => {
    await write(join(workspace, "locked/below/file"), "one");
    for (const name of ["locked/below", "locked"]) await Deno.chmod(join(workspace, name), 0o555);
    try {
      const { workspace: copy, close } = await place();
      assert.equal(await Deno.readTextFile(join(copy, "locked/below/file")), "one");
      assert.equal(((await Deno.stat(join(copy, "locked"))).mode ?? 0) & 0o777, 0o555);
      await close();
      assert.deepEqual(await left(), []);
    } finally {
      for (const name of ["locked", "locked/below"]) await Deno.chmod(join(workspace, name), 0o755);
    }
  }),
});

Deno.test(
  "replayPlace() refuses a workspace that is too large, gives advice, and leaves nothing behind",
  withRig(async ({ workspace, place, left }) => {
    for (const name of ["a", "b", "c"]) await write(join(workspace, name), "x".repeat(700_000));
    const cases: [ReplayPlaceParts["limits"], RegExp][] = [
      [{ bytes: 2 ** 20, entries: 100 }, /have more than 1 MiB, the limit; use --cwd.*--in-place/],
      [{ bytes: 2 ** 30, entries: 3 }, /have more than 3 files and folders, the limit; .*--in-place/],
    ];
    for (const [limits, says] of cases) {
      await assert.rejects(place({}, limits ? { limits } : {}), (error) => {
        assert.ok(error instanceof UsageError);
        assert.ok(error.message.startsWith(`Cannot copy ${workspace} for the replay: `), error.message);
        assert.match(error.message, says);
        return true;
      });
    }
    assert.deepEqual(await left(), []);
  }),
);

Deno.test(
  "replayPlace() reports faults of the workspace and the temporary folder",
  withRig(async ({ workspace, place }) => {
    await write(join(workspace, "file"), "");
    for (const name of ["missing", "file"]) {
      const path = join(workspace, name);
      await assert.rejects(place({ cwd: path }), { name: "UsageError", message: new RegExp(`Cannot use .*${name}`) });
      await assert.rejects(place({}, { temporary: path }), { name: "UsageError", message: /Cannot copy .*TMPDIR/ });
    }
  }),
);

Deno.test(
  "replayPlace() stops at the signal, and leaves nothing behind",
  withRig(async ({ workspace, place, left }) => {
    await write(join(workspace, "a"), "one");
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(place({ signal: controller.signal }), Cancelled);
    assert.deepEqual(await left(), []);
  }),
);

Deno.test(
  "replayPlace() does not copy itself if the temporary folder is in the workspace",
  withRig(async ({ workspace, place }) => {
    const temporary = join(workspace, "tmp");
    await write(join(temporary, "other"), "one");
    const { workspace: copy, close } = await place({}, { temporary });
    assert.deepEqual(await Array.fromAsync(Deno.readDir(join(copy, "tmp")), ({ name }) => name), ["other"]);
    await close();
  }),
);

Deno.test(
  "replayPlace() gives the copy the name of the recorded folder and a path of its length, and knows both",
  withRig(async ({ workspace, place }) => {
    const fitting = `/home/somebody/${"deep/".repeat(30)}project`, long = `/home/${"deep/".repeat(100)}project`;
    for (const recorded of [workspace, fitting, long, "/w", "/"]) {
      const { workspace: copy, paths, close } = await place({ recorded });
      if (recorded === "/") assert.equal(paths.toPlayed("/etc"), "/etc");
      else {
        assert.equal(copy.split("/").at(-1), recorded.split("/").at(-1));
        assert.equal(paths.toPlayed(`${recorded}/a`), `${copy}/a`);
        assert.equal(paths.toRecorded(`${copy}/a`), `${recorded}/a`);
      }
      if (recorded === fitting) assert.equal(copy.length, fitting.length);
      await close();
    }
  }),
);

Deno.test(
  "replayPlace() gives extensions a copy of their files in Vis's own folder, without keys, code and database",
  withRig(async ({ home, place }) => {
    for (
      const name of [
        "vis.db",
        "auth.json",
        "memo/user.json",
        "skills/one/SKILL.md",
        "cache/mcp/tools",
        "cache/extensions/x.js",
        "extensions/one/mod.ts",
        "checkpoints/ab/one.json",
      ]
    ) await write(join(home, name), name);
    const { home: own, paths, close } = await place();
    assert.ok(own);
    const found = async (folder: string): Promise<readonly string[]> =>
      (await Array.fromAsync(Deno.readDir(folder), async ({ name, isDirectory }) => {
        return isDirectory ? (await found(join(folder, name))).map((below) => `${name}/${below}`) : [name];
      })).flat().sort();
    assert.deepEqual(await found(own), ["cache/mcp/tools", "memo/user.json", "skills/one/SKILL.md"]);
    assert.equal(paths.toRecorded(`${own}/memo/user.json`), `${home}/memo/user.json`);
    await Deno.writeTextFile(join(own, "memo/user.json"), "changed");
    assert.equal(await Deno.readTextFile(join(home, "memo/user.json")), "memo/user.json");
    await close();
    for (const none of [null, join(home, "not-there")]) {
      const other = await place({}, { home: none });
      assert.equal(other.home === null, none === null);
      await other.close();
    }
  }),
);

Deno.test(
  "replayPlace() removes the copies of ended processes, and no others",
  withRig(async ({ temporary, place, left }) => {
    const owners = {
      "vis-replay-dead": GONE,
      "vis-replay-alive": thisProcess(),
      "vis-replay-elsewhere": ELSEWHERE,
      "vis-replay-long-ago": ELSEWHERE,
      "vis-other": GONE,
    };
    for (const [name, owner] of Object.entries(owners)) {
      await write(join(temporary, name, "owner.json"), JSON.stringify(owner));
    }
    await Deno.mkdir(join(temporary, "vis-replay-unknown"));
    const old = new Date(Date.now() - 25 * 3_600_000);
    await Deno.utime(join(temporary, "vis-replay-long-ago/owner.json"), old, old);
    const { close } = await place();
    await close();
    assert.deepEqual(await left(), ["vis-other", "vis-replay-alive", "vis-replay-elsewhere", "vis-replay-unknown"]);
  }),
);

Deno.test(
  "replayPlace() in place uses the workspace itself, and removes nothing",
  withRig(async ({ workspace, home, place, left }) => {
    await write(join(workspace, "a"), "one");
    const { workspace: same, home: own, copied, paths, close } = await place({ inPlace: true, recorded: "/recorded" });
    assert.deepEqual([same, own, copied, await left()], [workspace, home, null, []]);
    assert.equal(paths.toPlayed("/recorded/a"), `${workspace}/a`);
    await close();
    assert.equal(await Deno.readTextFile(join(workspace, "a")), "one");
  }),
);
