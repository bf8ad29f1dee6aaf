import assert from "node:assert/strict";
import { join } from "node:path";
import { SeatbeltWall } from "../../../src/processes/seatbelt/seatbelt_wall.ts";
import { ignore, LINUX_TABLE, parametersOf, place } from "./_stand_in.ts";
import { Profile } from "./_dialect.ts";
import { killed, longSleep } from "../lives.ts";

const OBEYS = { obeys: true } as const;

Deno.test("SeatbeltWall.spawn() runs a program behind sandbox-exec with a short environment", { ignore }, async () => {
  await place(OBEYS, async ({ wall, workspace, started, root }) => {
    await Deno.mkdir(join(workspace, "src"));
    const { code, stdout, stderr, notes, truncated } = await wall.spawn(workspace, [
      "sh",
      "-c",
      'pwd; env; cat; echo problem >&2; [ -n "$HOME" ] && echo x >"$HOME/x"; exit 3',
    ], { cwd: "src", input: "typed\n", env: { MINE: "yes" } });
    assert.deepEqual([code, stderr, notes, truncated], [3, "problem\n", [], false]);
    const [cwd, ...lines] = stdout.trimEnd().split("\n");
    assert.equal(cwd, join(workspace, "src"));
    assert.equal(lines.at(-1), "typed");
    const variables = lines.slice(0, -1).map((line) => line.split("=", 1)[0] ?? "").sort();
    assert.deepEqual(
      variables.filter((name) => !["_", "OLDPWD", "PWD", "SHLVL"].includes(name)),
      ["GIT_OPTIONAL_LOCKS", "HOME", "LANG", "MINE", "PATH", "TERM", "TMPDIR"],
    );
    assert.deepEqual(await Array.fromAsync(Deno.readDir(join(root, "temporary"))), [], "nothing is left");
    const args = (await started()).at(-1)!;
    const text = args[1] ?? "";
    const profile = new Profile(text, Object.fromEntries(parametersOf(args)));
    assert.equal(args[0], "-p");
    assert.ok(!text.includes(root));
    assert.ok(profile.allows({ operation: "file-write-create", path: join(workspace, "new") }));
    assert.ok(!profile.allows({ operation: "file-write-data", path: join(workspace, ".git/config") }));
    assert.ok(!profile.allows({ operation: "file-read-data", path: join(root, "home/secret") }));
  });
});

Deno.test("SeatbeltWall.walls() is whole where the probe saw each denial", { ignore }, async () => {
  await place(OBEYS, async ({ wall, visHome, started, root }) => {
    const { whole, reason, probe, hides, loopback } = await wall.walls();
    assert.deepEqual([whole, reason, hides, loopback], [true, "", true, false]);
    assert.ok(probe.length >= 14);
    for (const { wanted, outcome, name } of probe) assert.equal(outcome, wanted, name);
    await wall.walls();
    assert.equal((await started()).length, 1, "once");
    for (const folder of [visHome, join(root, "temporary")]) {
      assert.deepEqual(await Array.fromAsync(Deno.readDir(folder)), [], "nothing is left");
    }
  });
});

Deno.test(
  "SeatbeltWall runs nothing where one attempt of the probe gets through, and names it",
  { ignore },
  async () => {
    const attempts = {
      "read the folder of Vis": "*.wall-probe-*",
      "read a hidden file": "*/keys.env",
      "write beside the workspace": "*/new",
      "change .git/config": ".git/config",
      "move .git": ".git",
      "make .vis in capital letters": ".VIS",
      "signal another process": String(Deno.pid),
      "run a program with the set-user bit": "/bin/true",
      "ask the Keychain": "*/security",
    };
    for (const [name, target] of Object.entries(attempts)) {
      await place({ obeys: true, except: [target] }, async ({ wall, workspace, started }) => {
        const { whole, reason, probe } = await wall.walls();
        assert.equal(whole, false, name);
        assert.match(reason, new RegExp(`commands can ${name.replaceAll(".", "\\.")}`));
        assert.equal(probe.find((row) => row.name === name)?.outcome, "allowed");
        await assert.rejects(
          wall.spawn(workspace, ["touch", "made"]),
          new RegExp(`^Error: Cannot run commands: the command wall of this machine is incomplete`),
        );
        assert.equal((await started()).length, 1, "only the probe ran");
      });
    }
  },
);

Deno.test("SeatbeltWall.walls() sees a connection, and effects that a liar denies", { ignore }, async () => {
  await place("lies", async ({ wall }) => {
    const { whole, probe } = await wall.walls();
    assert.equal(whole, false);
    const allowed = probe.filter(({ outcome }) => outcome === "allowed").map(({ name }) => name);
    for (const name of ["write beside the workspace", "change .git/config", "connect to a server of this machine"]) {
      assert.ok(allowed.includes(name), name);
    }
  });
});

Deno.test("SeatbeltWall.walls() is not whole where the probe is silent or cannot start", { ignore }, async () => {
  await place("mute", async ({ wall }) => {
    const { whole, reason, probe } = await wall.walls();
    assert.equal(whole, false);
    assert.match(reason, /it is not known whether commands can read the folder of Vis/);
    const reads = probe.filter(({ name }) => /^(read the|signal|run)/.test(name));
    assert.deepEqual([...new Set(reads.map(({ outcome }) => outcome))], ["silent"]);
  });
  await place("refuses", async ({ wall, workspace }) => {
    const { whole, reason, probe } = await wall.walls();
    assert.deepEqual([whole, probe], [false, []]);
    assert.match(reason, /sandbox_apply: Operation not permitted/);
    await assert.rejects(wall.spawn(workspace, ["true"]), /sandbox_apply/);
  });
});

Deno.test("SeatbeltWall.walls() counts no denial whose target does not exist", { ignore }, async () => {
  const missing = { setUser: "/no/such/ps", keychain: "/no/such/security" };
  await place(OBEYS, async (other) => {
    const wall = new SeatbeltWall({
      home: other.home,
      visHome: other.visHome,
      read: [],
      network: false,
      env: {},
      temporary: join(other.root, "temporary"),
      system: { sandboxExec: join(other.root, "sandbox-exec"), processes: LINUX_TABLE, developer: [], probe: missing },
    });
    const { whole, probe } = await wall.walls();
    assert.equal(whole, false);
    const silent = probe.filter(({ outcome }) => outcome === "silent").map(({ name }) => name);
    assert.deepEqual(silent, ["run a program with the set-user bit", "ask the Keychain"]);
  });
});

Deno.test("SeatbeltWall.spawn() passes kept and hidden paths", { ignore }, async () => {
  await place(OBEYS, async ({ wall, workspace, started }) => {
    await Deno.mkdir(join(workspace, "lib/.git"), { recursive: true });
    for (const name of [".env", "other.env"]) await Deno.writeTextFile(join(workspace, name), "");
    const hideSecrets = { except: ["other.env"], instead: "" };
    await wall.spawn(workspace, ["true"], { hideSecrets });
    const values = [...parametersOf((await started()).at(-1)!).entries()];
    const of = (name: string) => values.flatMap(([key, value]) => key.startsWith(name) ? [value] : []);
    assert.deepEqual(of("HIDDEN"), [join(workspace, ".env")]);
    for (const path of [".git", ".vis", "lib/.git", ".GIT"]) {
      assert.ok(of("KEPT").includes(join(workspace, path)), path);
    }
    assert.ok(of("PIN").includes(join(workspace, "lib")));
    await wall.spawn(workspace, ["true"], { write: [workspace, join(workspace, ".git")] });
    const kept = [...parametersOf((await started()).at(-1)!).entries()].filter(([key]) => key.startsWith("KEPT"));
    assert.ok(!kept.some(([, path]) => path === join(workspace, ".git")), "asked for by name");
    assert.ok(kept.some(([, path]) => path === join(workspace, ".vis")));
    await Deno.mkdir(join(workspace, ".git/refs"));
    const keep = [join(workspace, "stays")];
    await wall.spawn(workspace, ["true"], { write: [workspace, join(workspace, ".git/refs")], keep });
    const parts = [...parametersOf((await started()).at(-1)!).entries()];
    const named = (name: string) => parts.flatMap(([key, path]) => key.startsWith(name) ? [path] : []);
    assert.deepEqual(named("OPENED"), [join(workspace, ".git/refs")]);
    for (const path of [join(workspace, ".git"), ...keep]) assert.ok(named("KEPT").includes(path), path);
  }, { secrets: ["*.env"] });
});

Deno.test(
  "SeatbeltWall.spawn() keeps repositories in other folders that a program may change",
  { ignore },
  async () => {
    await place(OBEYS, async ({ wall, root, workspace, started }) => {
      const other = join(root, "other"), bare = join(root, "bare"), folders = [".git", "lib/.git", "hooks", "src"];
      for (const path of [...folders.map((name) => join(other, name)), `${bare}/objects`, `${bare}/refs`]) {
        await Deno.mkdir(path, { recursive: true });
      }
      for (const path of [bare, join(other, ".git")]) {
        await Deno.writeTextFile(join(path, "HEAD"), "ref: refs/heads/main\n");
      }
      await Deno.writeTextFile(join(other, ".git/config"), "[core]\n\thooksPath = hooks\n");
      const allowed = async (write: readonly string[], names: readonly string[]) => {
        await wall.spawn(workspace, ["true"], { write: [workspace, ...write] });
        const args = (await started()).at(-1)!;
        const profile = new Profile(args[1] ?? "", Object.fromEntries(parametersOf(args)));
        return names.filter((name) => profile.allows({ operation: "file-write-create", path: join(root, name) }));
      };
      const names = [
        ".git/config",
        ".git/hooks/pre-commit",
        ".vis/config.jsonc",
        "hooks/pre-commit",
        "lib/.git/config",
      ];
      const files = ["src/a", "other/src/a", "other/a"].map((name) => name.replace("src/a", "src/a.ts"));
      const kept = names.map((name) => `other/${name}`);
      assert.deepEqual(await allowed([other], [...kept, ...files]), files.slice(1));
      assert.deepEqual(await allowed([join(other, "src")], [...kept, ...files]), ["other/src/a.ts"]);
      assert.deepEqual(await allowed([other, join(other, ".git")], kept), kept.slice(0, 2), "asked for by name");
      assert.deepEqual(await allowed([bare], ["bare/config"]), ["bare/config"], "asked for by name");
      assert.deepEqual(await allowed([], [...kept, ...files]), []);
    });
  },
);

Deno.test("SeatbeltWall.spawn() ends everything at the time limit, and what is left behind", { ignore }, async () => {
  await place(OBEYS, async ({ wall, workspace }) => {
    const tree = `setsid sh -c '${longSleep(921)}; :' & (${longSleep(922)} &) ; echo begun; wait; ${longSleep(923)}`;
    const { timedOut, signal } = await wall.spawn(workspace, ["sh", "-c", tree], { timeoutMs: 400 });
    assert.deepEqual([timedOut, signal], [true, "SIGKILL"]);
    for (const seconds of [921, 922, 923]) assert.ok(!killed(longSleep(seconds)), `${seconds} had been ended`);
    const { code, notes } = await wall.spawn(workspace, ["sh", "-c", `${longSleep(924)} >/dev/null 2>&1 &`]);
    assert.equal(code, 0);
    assert.deepEqual(notes, ["Vis ended processes that were left running"]);
    assert.ok(!killed(longSleep(924)));
  });
});

Deno.test("SeatbeltWall.spawn() stops when it is asked to, and rejects when it is aborted", { ignore }, async () => {
  await place(OBEYS, async ({ wall, workspace }) => {
    const stop = new AbortController(), abort = new AbortController();
    const stopped = await wall.spawn(
      workspace,
      ["sh", "-c", "trap 'echo bye; exit 0' TERM; echo up; sleep 30 & wait"],
      {
        stop: stop.signal,
        onOutput: (_, bytes) => new TextDecoder().decode(bytes).includes("up") && stop.abort(),
      },
    );
    assert.deepEqual([stopped.code, stopped.stdout, stopped.notes], [0, "up\nbye\n", []]);
    const aborted = wall.spawn(workspace, ["sh", "-c", "echo up; sleep 30"], {
      signal: abort.signal,
      onOutput: () => abort.abort(new Error("enough")),
    });
    await assert.rejects(aborted, /enough/);
  });
});

Deno.test("SeatbeltWall.spawn() keeps the beginning and the end of an output", { ignore }, async () => {
  await place(OBEYS, async ({ wall, workspace }) => {
    const { stdout, stderr, truncated } = await wall.spawn(workspace, ["sh", "-c", "seq 1 10000; printf %s é >&2"], {
      maxBytes: 40,
    });
    assert.ok(truncated);
    assert.match(stdout, /^1\n2\n.*Vis omits \d+ bytes.*10000\n$/s);
    assert.equal(stderr, "é");
  });
});

Deno.test(
  "SeatbeltWall.spawn() refuses private folders, links out, and programs that do not exist",
  { ignore },
  async () => {
    await place(OBEYS, async ({ wall, workspace, home, visHome, root }) => {
      await Deno.symlink(home, join(workspace, "out"));
      const refused = async (pattern: RegExp, options: object = {}, argv = ["true"]): Promise<void> => {
        await assert.rejects(wall.spawn(workspace, argv, options), pattern);
      };
      await refused(/contains your home folder/, { read: [root] });
      await Deno.writeTextFile(join(visHome, "auth.json"), "{}");
      await refused(/the folder of Vis/, { read: [join(visHome, "auth.json")] });
      await refused(/leads out of the workspace/, { write: [join(workspace, "out")] });
      await refused(/the folder is outside /, { cwd: ".." });
      await refused(/^Error: Cannot run no-such-program: the program does not exist$/, {}, ["no-such-program"]);
      await Deno.writeTextFile(join(workspace, "a"), "");
      await refused(/^Error: Cannot run \.\/a: it is not an executable file$/, {}, ["./a"]);
    });
  },
);

Deno.test(
  "SeatbeltWall puts the folders of Apple's tools before the programs that look for them",
  { ignore },
  async () => {
    await place(OBEYS, async ({ root, workspace, started }) => {
      const developer = join(root, "Xcode.app/Contents/Developer");
      const sdk = "Platforms/MacOSX.platform/Developer/SDKs/MacOSX.sdk";
      for (const name of ["usr/bin", sdk]) await Deno.mkdir(join(developer, name), { recursive: true });
      await Deno.symlink(developer, join(root, "select"));
      const wall = new SeatbeltWall({
        home: join(root, "home"),
        visHome: null,
        read: [],
        network: false,
        env: { PATH: "/usr/bin:/bin:relative" },
        temporary: join(root, "temporary"),
        system: {
          sandboxExec: join(root, "sandbox-exec"),
          processes: LINUX_TABLE,
          developer: [join(root, "select"), "/no/such/folder"],
          probe: { setUser: "/bin/true", keychain: join(root, "security") },
        },
      });
      const { stdout } = await wall.spawn(workspace, ["sh", "-c", 'echo "$PATH $DEVELOPER_DIR $SDKROOT"']);
      assert.equal(stdout, `${developer}/usr/bin:/usr/bin:/bin ${developer} ${developer}/${sdk}\n`);
      const read = [...parametersOf((await started()).at(-1)!).values()];
      assert.ok(read.includes(join(root, "Xcode.app/Contents")));
    });
  },
);
