import assert from "node:assert/strict";
import { join } from "node:path";
import type { Approval, ApprovalRequest } from "../../../src/domain/query/approval.ts";
import type { SpawnOptions } from "../../../src/extension/spawn_types.ts";
import {
  AskedPrograms,
  type AskedProgramsOptions,
  type WallState,
} from "../../../src/processes/approved/approved_programs.ts";
import { NotStarted } from "../../../src/processes/linux/known_wall.ts";
import { programFolders } from "../../../src/processes/approved/_unconfined_process.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const WHOLE: WallState = { whole: true };
const SOME: WallState = { whole: false, some: true, reason: "this machine gives programs no namespaces" };
const NONE: WallState = { whole: false, some: false, reason: "there is no wall for programs on test" };
const YES: Approval = { allowed: true, reason: "" };
const NO: Approval = { allowed: false, reason: "the user said no" };
const OUTPUT = {
  code: 0,
  signal: null,
  stdout: "walled",
  stderr: "",
  ms: 1,
  timedOut: false,
  truncated: false,
  notes: [],
};
const WALLS = { network: false, whole: true, reason: "", loopback: true, unix: true, hides: true, leftOut: [] };

interface Place {
  readonly workspace: string;
  readonly asked: readonly ApprovalRequest[];
  readonly walled: readonly (readonly string[])[];
  run(argv: readonly string[], options?: SpawnOptions, from?: string | null): Promise<string>;
  readonly programs: AskedPrograms;
}

async function at(
  state: WallState,
  work: (place: Place) => Promise<void>,
  { answer = () => YES, ...options }: Partial<AskedProgramsOptions> & {
    readonly answer?: ((request: ApprovalRequest, workspace: string) => Approval | Promise<Approval>) | null;
  } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const workspace = await Deno.realPath(folder);
    const asked: ApprovalRequest[] = [], walled: (readonly string[])[] = [];
    const programs = new AskedPrograms({
      wall: {
        spawn: (_workspace, argv) => {
          walled.push(argv);
          return Promise.resolve(OUTPUT);
        },
        walls: () => Promise.resolve(WALLS),
      },
      state: () => Promise.resolve(state),
      mode: "ask",
      env: { PATH: "/usr/bin:/bin", HOME: "/home/nobody", OPENAI_API_KEY: "secret" },
      visHome: null,
      vouches: (extension) => extension === "shipped",
      ...options,
    });
    const ask = answer === null ? null : async (request: ApprovalRequest) => {
      asked.push(request);
      return await answer(request, workspace);
    };
    const run = async (argv: readonly string[], given: SpawnOptions = {}, from: string | null = "test.own") =>
      (await programs.spawn(workspace, argv, given, from === null ? null : { extension: from, ask })).stdout;
    await work({ workspace, asked, walled, run, programs });
  });
}

Deno.test("programs run without a question where the wall is whole", async () => {
  await at(WHOLE, async ({ run, asked, walled, programs }) => {
    assert.equal(await run(["ls"]), "walled");
    assert.deepEqual([asked, walled], [[], [["ls"]]]);
    assert.equal((await programs.walls()).unwalled, undefined);
  });
});

Deno.test("with an incomplete wall, each program needs approval, which shows the scope of a lasting answer", async () => {
  await at(SOME, async ({ run, asked, walled, workspace, programs }) => {
    await run(["/bin/sh", "-c", "ls src && wc -l a"]);
    const { what, exact, why, scopes, lasting } = asked[0]!;
    const [ls, wc] = await Promise.all(["ls", "wc"].map((name) => Deno.realPath(`/usr/bin/${name}`)));
    assert.deepEqual([what, exact], ["run a command behind an incomplete command wall", "ls src && wc -l a"]);
    assert.equal(
      why,
      `It runs ${ls}, ${wc} in ${workspace}. It can change the settings of this repository and leave programs behind (this machine gives programs no namespaces).`,
    );
    assert.deepEqual([scopes, lasting], [[`ls src (${ls})`, `wc -l a (${wc})`], true]);
    assert.deepEqual(walled, [["/bin/sh", "-c", "ls src && wc -l a"]]);
    assert.deepEqual((await programs.walls()).unwalled, { mode: "ask", reason: SOME.reason, some: true });
  });
});

Deno.test("variables of the output leave a lasting answer possible", async () => {
  await at(SOME, async ({ run, asked }) => {
    await run(["ls"], { env: { CI: "1", NO_COLOR: "", LANG: "C.UTF-8", TERM: "xterm-256color", NODE_ENV: "test" } });
    for (const [name, value] of [["PATH", "x"], ["NODE_OPTIONS", "-r"], ["TERM", "../x"], ["LD_PRELOAD", "a"]]) {
      await run(["ls"], { env: { CI: "1", [name ?? ""]: value ?? "" } });
      assert.match(asked.at(-1)!.why, new RegExp(`because the command sets ${name}\\.$`));
    }
    assert.deepEqual(asked.map(({ lasting }) => lasting), [true, false, false, false, false]);
  });
});

Deno.test("a question that is asked every time gives the reason", async () => {
  await at(SOME, async ({ run, asked, workspace }) => {
    await Deno.mkdir(join(workspace, "sub"));
    await run(["/bin/sh", "-c", "ls $(pwd)"]);
    await run(["ls"], { env: { LD_PRELOAD: "./a b.so" }, cwd: "sub", network: true });
    await run(["sort"], { input: "b\na" });
    assert.deepEqual(asked.map(({ lasting }) => lasting), [false, false, false]);
    assert.match(asked[0]!.why, /Vis asks every time, because the command has \$\.$/);
    assert.equal(
      asked[1]!.what,
      `run a command behind an incomplete command wall, with access to the network, in ${workspace}/sub, with LD_PRELOAD='./a b.so'`,
    );
    assert.match(asked[1]!.why, /Vis asks every time, because the command sets LD_PRELOAD\.$/);
    assert.equal(
      asked[2]!.what,
      'run a command behind an incomplete command wall, with the input of 3 characters "b\\na"',
    );
  });
});

Deno.test("no program runs after a refusal, without a user to ask, or if it cannot be shown whole", async () => {
  const refused = async (place: Place, wanted: RegExp, options: SpawnOptions = {}) => {
    await assert.rejects(place.run(["ls"], options), wanted);
    assert.deepEqual(place.walled, []);
  };
  await at(
    SOME,
    async (place) =>
      await refused(place, /^Error: Cannot run ls: the user said no \(Vis asks before commands, because/),
    {
      answer: () => NO,
    },
  );
  await at(SOME, async (place) => await refused(place, /^Error: Cannot run ls: no user can answer here/), {
    answer: null,
  });
  await at(SOME, async (place) => {
    await refused(
      place,
      /has 50\d\d characters, more than the limit of 4000; write the command or its input to a file/,
      {
        input: "x".repeat(5_000),
      },
    );
    await refused(place, /has 50\d\d characters/, { env: { A: "x".repeat(5_000) } });
    assert.deepEqual(place.asked, []);
  });
});

Deno.test("a program or folder that is another one after the question does not run", async () => {
  const swap = async (_: ApprovalRequest, workspace: string): Promise<Approval> => {
    await Deno.remove(join(workspace, "bin/tool"));
    await Deno.symlink("/usr/bin/id", join(workspace, "bin/tool"));
    return YES;
  };
  await at(SOME, async ({ run, walled, workspace }) => {
    await Deno.mkdir(join(workspace, "bin"));
    await Deno.symlink("/usr/bin/true", join(workspace, "bin/tool"));
    await assert.rejects(
      run(["bin/tool"]),
      /Cannot run bin\/tool: its program or folder changed before the command began/,
    );
    assert.deepEqual(walled, []);
  }, { answer: swap });
  await at(NONE, async ({ run, workspace }) => {
    await Promise.all(["a", "b"].map((name) => Deno.mkdir(join(workspace, name))));
    await Deno.symlink("a", join(workspace, "link"));
    await assert.rejects(run(["pwd"], { cwd: "link" }), /changed before the command began/);
  }, {
    answer: async (_, workspace) => {
      await Deno.remove(join(workspace, "link"));
      await Deno.symlink("b", join(workspace, "link"));
      return YES;
    },
  });
});

Deno.test("a wall that turns out not to be whole while a program starts is asked for, too", async () => {
  let state: WallState = { whole: true };
  const spawned: (boolean | undefined)[] = [];
  const wall: AskedProgramsOptions["wall"] = {
    spawn: (_workspace, _argv, options) => {
      spawned.push(options?.whole);
      if (!options?.whole) return Promise.resolve(OUTPUT);
      state = SOME;
      return Promise.reject(new NotStarted("no namespaces now"));
    },
    walls: () => Promise.resolve(WALLS),
  };
  await at(WHOLE, async ({ run, asked }) => {
    await assert.rejects(run(["ls"]), /Cannot run ls: the user said no/);
    assert.equal(asked.length, 1);
    assert.deepEqual(spawned, [true]);
  }, { wall, state: () => Promise.resolve(state), answer: () => NO });
});

Deno.test("the user's mode decides: run asks nothing, off runs nothing", async () => {
  await at(SOME, async ({ run, asked, programs }) => {
    assert.equal(await run(["ls"]), "walled");
    assert.deepEqual(asked, []);
    assert.equal((await programs.walls()).unwalled?.mode, "run");
  }, { mode: "run" });
  await at(SOME, async ({ run, programs }) => {
    const off = /Cannot run commands: this machine gives programs no namespaces, and shell\.unwalled is off or/;
    await assert.rejects(run(["ls"]), off);
    await assert.rejects(run(["ls"], { answered: true }, null), off);
    await assert.rejects(programs.walls(), off);
  }, { mode: "off" });
});

Deno.test("walls() refuses paths that the wall refuses to every program, except without any wall", async () => {
  await withFolder(async (folder) => {
    const home = await Deno.realPath(folder);
    await Deno.mkdir(join(home, ".vis"));
    for (const name of [".bashrc", "plain", ".vis/config.jsonc"]) await Deno.writeTextFile(join(home, name), "");
    for (const state of [WHOLE, SOME, NONE]) {
      await at(state, async ({ programs, workspace }) => {
        const refused = (paths: { readonly write?: readonly string[]; readonly cwd?: string }) =>
          programs.walls({ workspace, ...paths }).then(() => "", (error: Error) => error.message);
        const writes = (name: string) => refused({ write: [join(home, name)] });
        const [settings, own, whole, cwd] = await Promise.all([
          writes(".bashrc"),
          writes(".vis/config.jsonc"),
          writes(""),
          refused({ cwd: "nosuch" }),
        ]);
        if (state === NONE) return assert.deepEqual([settings, own, whole, cwd], ["", "", "", ""]);
        assert.match(settings, /Cannot run commands that change .*\.bashrc may have settings or keys/);
        assert.match(own, /is inside .*\.vis, the folder of Vis/);
        assert.match(whole, /is your home folder|contains your home folder/);
        assert.match(cwd, /Cannot run a command in nosuch: the folder does not exist/);
        assert.deepEqual([await writes("plain"), await refused({ cwd: "." })], ["", ""]);
      }, { env: { PATH: "/usr/bin:/bin", HOME: home }, visHome: join(home, ".vis") });
    }
  });
});

Deno.test("only programs that the user or shipped extensions name run without a question", async () => {
  await at(SOME, async ({ run, asked, walled }) => {
    await run(["a"], {}, null);
    await run(["b"], { answered: true }, "shipped");
    assert.equal(asked.length, 0);
    await assert.rejects(run(["c"], { answered: true }, "test.foreign"), /the user said no/);
    await assert.rejects(run(["d"], {}, "shipped"), /the user said no/);
    assert.deepEqual(walled, [["a"], ["b"]]);
  }, { answer: () => NO });
});

Deno.test("a program runs again behind the incomplete wall only if it did not run behind the whole one", async () => {
  for (const [error, runs] of [[new NotStarted("no namespaces"), 2], [new Error("no space left"), 1]] as const) {
    const states: WallState[] = [WHOLE, SOME];
    const walled: boolean[] = [];
    const spawn = (_workspace: string, _argv: readonly string[], { whole = false }: SpawnOptions = {}) => {
      walled.push(whole);
      return whole ? Promise.reject(error) : Promise.resolve(OUTPUT);
    };
    await at(WHOLE, async ({ run, asked }) => {
      const ran = run(["ls"]);
      if (runs === 1) await assert.rejects(ran, error);
      else assert.equal(await ran, "walled");
      assert.deepEqual([walled, asked.length], [[true, false].slice(0, runs), runs - 1]);
    }, {
      wall: { spawn, walls: () => Promise.resolve(WALLS) },
      state: () => Promise.resolve(states.shift() ?? SOME),
    });
  }
});

Deno.test("onBegin comes after the answer", async () => {
  const order: string[] = [];
  await at(SOME, async ({ run }) => {
    await run(["ls"], { onBegin: () => order.push("begins") });
    assert.deepEqual(order, ["asked", "begins"]);
  }, { answer: () => (order.push("asked"), YES) });
});

Deno.test("without any wall, programs run freely after a yes, with none of the keys of Vis", async () => {
  await at(NONE, async ({ run, asked, workspace, programs, walled }) => {
    assert.equal(await run(["/bin/sh", "-c", "pwd"]), `${workspace}\n`);
    assert.deepEqual([asked[0]?.what, asked[0]?.exact], ["run a command with no wall around it", "pwd"]);
    assert.match(
      asked[0]?.why ?? "",
      /It can read and change all that you can \(there is no wall for programs on test\)\.$/,
    );
    const shown = await run(["env"], { env: { OWN: "1" } });
    assert.match(shown, /^PATH=\/usr\/bin:\/bin$/m);
    assert.match(shown, /^OWN=1$/m);
    assert.doesNotMatch(shown, /KEY/);
    assert.equal(await run(["cat"], { input: "given" }), "given");
    assert.deepEqual(walled, []);
    assert.deepEqual(await programs.walls(), {
      ...{ network: true, whole: false, reason: NONE.reason, loopback: true, unix: true, hides: false, leftOut: [] },
      unwalled: { mode: "ask", reason: NONE.reason, some: false },
    });
  });
});

Deno.test("npm test: the question names the file that the program runs", async () => {
  await at(SOME, async ({ run, asked }) => {
    const npm = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(join(npm, "npm"), "", { mode: 0o755 });
      await run([join(npm, "npm"), "test"]);
      assert.match(asked[0]?.why ?? "", /Vis asks every time, because .*\/npm can change after the answer/);
    } finally {
      await Deno.remove(npm, { recursive: true });
    }
  });
  const npm = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(npm, "npm"), "", { mode: 0o755 });
    await at(SOME, async ({ run, asked }) => {
      await run(["npm", "test"]);
      assert.match(asked[0]?.why ?? "", /, and npm test runs what package\.json says, which Vis can change\.$/);
      assert.deepEqual(asked[0]?.scopes, [`npm test … (${await Deno.realPath(npm)}/npm)`]);
    }, { env: { PATH: npm }, temporary: [] });
  } finally {
    await Deno.remove(npm, { recursive: true });
  }
});

Deno.test("a question names the program that the command's own PATH gives it, and no PATH is the usual one", async () => {
  assert.deepEqual(programFolders({ PATH: "bin:/usr/bin" }, { PATH: "/opt/a:./b" }), ["/opt/a"]);
  assert.deepEqual(programFolders({ PATH: "bin:/usr/bin" }), ["/usr/bin"]);
  assert.deepEqual(programFolders({}), ["/usr/bin", "/bin"]);
  await at(NONE, async ({ workspace, run, asked }) => {
    await Deno.mkdir(join(workspace, "bin"));
    await Deno.writeTextFile(join(workspace, "bin/cat"), "#!/bin/sh\necho own\n", { mode: 0o755 });
    assert.equal(await run(["cat"], { env: { PATH: join(workspace, "bin") } }), "own\n");
    assert.match(asked[0]?.why ?? "", /It runs .*\/bin\/cat in /);
    assert.ok(asked[0]?.why.includes(join(workspace, "bin/cat")));
  });
});
