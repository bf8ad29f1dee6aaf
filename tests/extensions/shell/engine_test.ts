import assert from "node:assert/strict";
import { join } from "node:path";
import { BlockTally } from "../../../src/domain/query/host_call.ts";
import fs from "../../../extensions/fs/mod.ts";
import shell from "../../../extensions/shell/mod.ts";
import { SHELL } from "../../../extensions/shell/run.ts";
import { startEngine } from "../../helpers/engine.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { missing, place } from "../../processes/_place.ts";
import { lives, longSleep } from "../../processes/lives.ts";
import { until } from "../../helpers/until.ts";

const SLEEP = longSleep(906);

const ignore = missing !== "";

Deno.test("shell.run() in a block gives the full output as a value and shows a part of it", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const flood = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; echo failed >&2; exit 3";
    await using engine = await startEngine([
      replyJson(`const t = await shell.run(${JSON.stringify(flood)}); t`),
      replyJson("[t.code, t.stderr.trim(), t.stdout.split('\\n').length, t.stdout.slice(-10)].join()"),
      (request) => {
        assert.match(request.context, /3,failed,5001,line 4999/);
        return replyJson([], { final: "It failed with code 3" });
      },
    ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
    assert.equal((await engine.ask("Try it")).status, "done");
    const shown = engine.context(1);
    assert.match(shown, /line 0\n/);
    assert.ok(shown.length < 20_000, `${shown.length} characters`);
  });
});

Deno.test(
  "the facts below an answer keep a command that failed in one folder and passed in another",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      for (const name of ["a", "b"]) await Deno.mkdir(join(workspace, name));
      await using engine = await startEngine([
        replyJson('for (const cwd of ["a", "b"]) await shell.run("test $(basename $PWD) = b", { cwd })'),
        replyJson([], { final: "The test failed in a, and passed in b" }),
      ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
      const { work } = await engine.ask("Test both");
      assert.deepEqual(work?.commands.map(({ command, exitCode }) => [command, exitCode]), [
        ["test $(basename $PWD) = b in a", 1],
        ["test $(basename $PWD) = b in b", 0],
      ]);
      assert.match(work?.text ?? "", /^✗ test .* in a \(exit code 1\), ran test .* in b$/);
    });
  },
);

Deno.test("a block that prints part of a failed command's output shows how the command ended", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const failing = "echo started; exit 3", hidden = "printf '# pass  3\\n# fail  2\\n' | tail -9";
    await using engine = await startEngine([
      replyJson([
        `print((await shell.run(${JSON.stringify(failing)})).stdout)`,
        `print((await shell.run(${JSON.stringify(hidden)})).stderr)`,
        'print((await shell.run("true")).stdout)',
        `const r = await shell.run("seq 900; echo the reason >&2; exit 1")`,
      ]),
      replyJson([], { final: "It failed with code 3" }),
    ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
    await engine.ask("Try it");
    const shown = engine.context(1);
    assert.match(shown, /stdout: started\n +ran echo started; exit 3: exit code 3\n/);
    assert.match(shown, /\n +ran printf .* tail -9: 3 passed, 2 failed\n# fail +2\n/);
    assert.match(shown, /(?:\d+\n)+900\n[^]*\n stderr: "the reason\\n"[^]*\n +ran seq 900; .*: exit code 1\n/);
    assert.doesNotMatch(shown, /ran true/);
  });
});

Deno.test(
  "the model sees the output of a failed command once, and people see no name of a variable",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      await using engine = await startEngine([
        replyJson('(await shell.run("seq 101 150; touch /usr/x; exit 3")).stdout'),
        replyJson([], { final: "It failed with code 3" }),
      ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
      const shown: string[] = [];
      await engine.conversations.ask(engine.branch, "Try it", {
        signal: new AbortController().signal,
        emit: (event) => event.type === "host_call" && shown.push(BlockTally.of([event]).output),
      });
      const seen = engine.context(1);
      assert.equal(seen.match(/^150$/gm)?.length, 1, seen);
      for (const text of ["Read-only file system", "Commands see the system", "[the variable failedOutput has"]) {
        assert.equal(seen.split(text).length, 2, text);
      }
      assert.match(shown.join("\n"), /150\n.*Read-only file system\nCommands see the system/s);
      assert.doesNotMatch(shown.join("\n"), /failedOutput/);
    });
  },
);

Deno.test("the whole output of a failed command stays readable, in a later request of another process too", {
  ignore,
}, async () => {
  await place(async ({ wall, workspace }) => {
    const options = { path: join(workspace, "vis.db"), workspace, extensions: [shell], spawn: wall.spawn.bind(wall) };
    {
      await using engine = await startEngine([
        replyJson(['await shell.run("seq 5000; exit 3"); 1', 'await shell.run("echo short; exit 4"); 2']),
        replyJson([], { final: "It failed with code 3" }),
      ], options);
      await engine.ask("Try it");
      assert.match(engine.context(1), /more lines\n[^]*5000\n\[the variable failedOutput has all of the output\]/);
      assert.equal(engine.context(1).match(/has all of the output/g)?.length, 1, "a short output is shown whole");
    }
    await using later = await startEngine([
      replyJson("failedOutput.split('\\n').slice(2000, 2003).join()"),
      (request) => {
        assert.match(request.context, /2001,2002,2003/);
        return replyJson([], { final: "Read again" });
      },
    ], options);
    assert.equal((await later.ask("Read it again")).answer, "Read again");
  });
});

Deno.test("a name that a command's result lacks is refused with its own, in a later request of another process too", {
  ignore,
}, async () => {
  await place(async ({ wall, workspace }) => {
    const path = join(workspace, "vis.db");
    const options = { path, workspace, extensions: [shell, fs], spawn: wall.spawn.bind(wall) };
    {
      await using engine = await startEngine([
        replyJson([
          'const r = await shell.run("exit 3")',
          'if (r.exitCode !== 0) throw new Error("it failed")',
          'await fs.writeFile("a.txt", "one\\n"); (await fs.grep("one")).map((hit) => hit.file)',
          'print((await fs.stat("a.txt")).mtime)',
        ]),
        replyJson("r.code + 1"),
        replyJson([], { final: "The command ended with code 3" }),
      ], options);
      assert.equal((await engine.ask("Run it")).status, "done");
      const shown = engine.context(1);
      assert.match(shown, /TypeError: A result of shell\.run has no exitCode: use code/);
      assert.match(shown, /A result of fs\.grep has no file: use path/);
      assert.match(shown, /A result of fs\.stat has no mtime: use modified/);
      assert.match(shown, /<var_index>\nconst r = \{ code: 3, signal: null, stdout: ""/);
      assert.match(engine.context(2), /r\.code \+ 1 → 4\b/);
    }
    await using engine = await startEngine([
      replyJson("r.output"),
      replyJson([], { final: "It printed nothing" }),
    ], options);
    assert.equal((await engine.ask("Did it print anything?")).status, "done");
    assert.match(engine.context(1), /A result of shell\.run has no output: use stdout and stderr/);
  });
});

Deno.test(
  "a command of shell.start() runs over blocks and requests, and ends with the conversation",
  { ignore },
  async () => {
    await place(async ({ wall, workspace, read }) => {
      const serve = `echo ready; while read -r line; do echo got $line; done < fifo; ${SLEEP}`;
      const engine = await startEngine([
        replyJson([
          `await shell.run("mkfifo fifo"); const s = await shell.start(${
            JSON.stringify(serve)
          }, {until: "ready", waitMs: 20000})`,
          "s.running + s.output.trim()",
        ]),
        replyJson(
          'await shell.run("echo hello > fifo"); (await shell.read(s.id, {until: "hello", waitMs: 20000})).output',
        ),
        replyJson([], { final: "It runs now" }),
        replyJson("const l = await shell.list(); l.map(c => [c.id, c.running].join()).join()"),
        replyJson([], { final: "{{l.length}}" }),
      ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
      try {
        assert.equal((await engine.ask("Start it")).status, "done");
        assert.match(engine.context(1), /trueready/);
        assert.match(engine.context(2), /got hello/);
        await until(() => lives(SLEEP));
        assert.equal((await engine.ask("Does it run?")).answer, "1");
        assert.match(engine.provider.requests[3]?.texts.join("\n") ?? "", /Still running: c1 "echo ready/);
        assert.match(engine.context(4), /c1,true/);
      } finally {
        await engine.close();
      }
      assert.equal(lives(SLEEP), false);
      assert.notEqual(read("workspace/.git/config"), null);
    });
  },
);

Deno.test("shell.start() reports a program that cannot run", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    await using engine = await startEngine([
      replyJson('await shell.start(["no-such-program"], {waitMs: 20000})'),
      replyJson([], { final: "It cannot be run here" }),
    ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
    await engine.ask("Start it");
    assert.match(engine.context(1), /Cannot run no-such-program: the program does not exist/);
  });
});

Deno.test("the model and the user learn of files that a command changed", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    await Deno.writeTextFile(`${workspace}/a.txt`, "one\n");
    await using engine = await startEngine([
      replyJson('const r = await shell.run("sed -i s/one/two/ a.txt; echo new > b.txt"); r.changes'),
      replyJson([], { final: "The text is two now" }),
    ], { workspace, extensions: [fs, shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
    await engine.ask("Replace one by two");
    assert.match(engine.context(1), /<changed> b\.txt \+1 −0, a\.txt \+1 −1/);
    assert.match(engine.context(1), /files: 2, added: \[ "b\.txt" \], changed: \[ "a\.txt" \]/);
    const diffs = engine.events.flatMap((event) =>
      event.type === "host_call" && event.phase === "end" ? event.diffs ?? [] : []
    );
    assert.match(diffs.join(""), /-one\n\+two\n/);
  });
});

Deno.test("shell.write() answers a question of a started command, and ends its input", { ignore }, async () => {
  await place(async ({ wall, workspace }) => {
    const asks = 'printf "Name? "; read name; echo "Hello $name"; cat; echo over';
    await using engine = await startEngine([
      replyJson([
        `const s = await shell.start(${JSON.stringify(asks)}, {stdin: true, until: "Name?", waitMs: 20000})`,
        'const a = await shell.write(s.id, "Ada\\n", {until: "Hello", waitMs: 20000}); a.output',
        'const b = await shell.write(s.id, "more\\n", {end: true, until: "over", waitMs: 20000}); b.output',
        'await shell.read(s.id, {until: "never", waitMs: 20000}); await shell.write(s.id, "late")',
        'const t = await shell.start("sleep 100"); await shell.write(t.id, "x")',
        "await shell.stop(t.id)",
      ]),
      replyJson([], { final: "It said hello" }),
    ], { workspace, extensions: [shell], spawn: (folder, argv, options) => wall.spawn(folder, argv, options) });
    await engine.ask("Answer it");
    const context = engine.context(1);
    assert.match(context, /Hello Ada/);
    assert.match(context, /more\nover/);
    assert.match(context, /Cannot write to c1: it has ended with code 0/);
    assert.match(context, /Cannot write to c2: it started without an input; start it again with \{stdin: true\}/);
  });
});

Deno.test(
  "commands run in bash where the machine has it, and package managers do not wait for a network",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      const command = 'echo "$npm_config_fetch_retries $PIP_RETRIES $PYTHONUNBUFFERED" {a,b} ${BASH_VERSION:+bash}';
      await using engine = await startEngine([
        replyJson(`(await shell.run(${JSON.stringify(command)}, {env: {PIP_RETRIES: "3"}})).stdout`),
        replyJson([], { final: "That is it" }),
      ], {
        workspace,
        extensions: [shell],
        spawn: (folder, argv, options) => wall.spawn(folder, argv, options),
        programWalls: async () => await wall.walls(),
      });
      await engine.ask("Look");
      const { unwalled } = await wall.walls();
      if (SHELL === "/bin/bash" && !unwalled) assert.match(engine.context(1), /0 3 1 a b bash/);
    });
  },
);

Deno.test(
  "a background command that ended with a lost Vis is told to the model and the user, once",
  { ignore },
  async () => {
    await place(async ({ wall, workspace }) => {
      const options = { path: join(workspace, "vis.db"), workspace, extensions: [shell], settings: { budget: 10 } };
      {
        await using engine = await startEngine([
          replyJson('const dev = await shell.start("echo up; sleep 60"); dev.running'),
          replyJson([], { final: "It runs" }),
        ], { ...options, spawn: (folder, argv, asked) => wall.spawn(folder, argv, asked) });
        await engine.ask("Serve it");
        assert.match(engine.context(1), /→ true/);
      }
      await using later = await startEngine([
        replyJson("[await shell.list(), (await shell.read(dev.id)).notes, (await shell.start('true')).id]"),
        replyJson([], { final: "It ended" }),
        replyJson([], { final: "Nothing runs" }),
      ], { ...options, spawn: (folder, argv, asked) => wall.spawn(folder, argv, asked) });
      const first = await later.ask("Does it run?");
      assert.match(
        later.provider.requests[0]?.texts[0] ?? "",
        /No longer running, because Vis ended: c1 "echo up; sleep 60"/,
      );
      assert.match(later.context(1), /running: false[^]*ended with an earlier process of Vis[^]*"c2"/);
      assert.match(first.notes.join("\n"), /Background commands that ended with an earlier Vis: echo up; sleep 60/);
      const second = await later.ask("And now?");
      assert.doesNotMatch(later.provider.requests.at(-1)?.texts[0] ?? "", /because Vis ended/);
      assert.doesNotMatch(second.notes.join("\n"), /earlier Vis/);
    });
  },
);
