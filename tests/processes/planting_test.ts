/** The user's own git runs no program that commands planted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { LinuxWall } from "../../src/processes/linux/linux_wall.ts";
import { until } from "../helpers/until.ts";
import { mayMake, missing, OWNER, type Owner } from "./_place.ts";
import {
  asUser,
  AT_FOLDERS,
  FOLDER,
  LAYOUTS,
  type Planted,
  planted,
  planting,
  PLANTS,
  uses,
  WORKS,
} from "./_planting.ts";
import { wallProcess } from "./_wall_process.ts";

const hasGit = missing === "" && await Deno.stat("/usr/bin/git").then(() => true, () => false);
const ignore = !mayMake || !hasGit;

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
}

function wallOf({ root, workspace }: Planted): LinuxWall {
  return new LinuxWall({
    home: join(root, "home"),
    visHome: join(root, "home/.vis"),
    read: [],
    network: false,
    env: {
      PATH: "/usr/bin:/bin",
      XDG_CONFIG_HOME: join(root, "xdg"),
      ...exists(join(root, "home/names-settings")) ? { GIT_CONFIG_GLOBAL: join(workspace, "dotfiles/global") } : {},
    },
  });
}

interface Start {
  readonly inside?: boolean;
  readonly all?: boolean;
  readonly owner?: Owner | null;
}

async function plants(
  layout: string,
  tried: readonly string[],
  { inside = false, all = false, owner = null }: Start = {},
) {
  let found = false;
  await planted(layout, async (place) => {
    const { workspace } = place, folder = inside ? join(workspace, FOLDER) : workspace;
    await asUser(`mkdir -p '${folder}'`, place);
    const facts = async () => await asUser(FACTS, place) + await asUser(FACTS, place, folder);
    const before = await facts();
    const script = planting(tried, { ...place, workspace: all ? workspace : folder });
    await wallOf(place).spawn(folder, ["/bin/sh", "-c", script], {
      ...(inside ? { root: workspace } : {}),
      ...(all ? { write: [workspace], cwd: workspace } : {}),
    });
    await asUser(uses(place.tops), place);
    found = exists(place.witness);
    assert.equal(await facts(), before);
  }, { owner });
  return found;
}

const FACTS = "git rev-parse --git-dir; git config --list --show-origin";

/** Tries all plants at once. If a program runs, it tries them one after another. */
async function plantsNothing(layout: string, start: Start = {}): Promise<void> {
  if (!await plants(layout, Object.values(PLANTS), start)) return;
  for (const [name, plant] of Object.entries(PLANTS)) {
    assert.equal(await plants(layout, [plant], start), false, `a command that ${name}`);
  }
  assert.fail("a command that tries all");
}

for (const layout of Object.keys(LAYOUTS)) {
  Deno.test(`a command plants nothing that git runs later in a workspace with ${layout}`, { ignore }, async () => {
    await plantsNothing(layout);
  });

  Deno.test(`nor where Vis was started in a folder inside a workspace with ${layout}`, { ignore }, async () => {
    await plantsNothing(layout, { inside: true });
  });

  Deno.test(`nor where a command there may change all of a workspace with ${layout}`, { ignore }, async () => {
    await plantsNothing(layout, { inside: true, all: true });
  });

  Deno.test(`nor if root works in another user's workspace with ${layout}`, { ignore: ignore || !OWNER }, async () => {
    await plantsNothing(layout, { owner: OWNER });
  });

  for (const owner of OWNER === null ? [null] : [null, OWNER]) {
    const who = owner === null ? "a command" : "a command with its owner's id";
    Deno.test(`without a wall, ${who} plants something in a workspace with ${layout}`, { ignore }, async () => {
      await planted(layout, async (place) => {
        await asUser(planting([PLANTS[WORKS[layout] ?? ""] ?? ""], place), place);
        await asUser(uses(place.tops), place);
        assert.equal(exists(place.witness), true);
      }, { owner });
    });
  }
}

for (const name of AT_FOLDERS) {
  Deno.test(`without a wall, a command in a folder inside a repository ${name}`, { ignore }, async () => {
    await planted("a repository", async (place) => {
      const folder = join(place.workspace, FOLDER);
      await Deno.mkdir(folder, { recursive: true });
      await asUser(planting([PLANTS[name] ?? ""], { ...place, workspace: folder }), place, folder);
      await asUser(uses(place.tops), place);
      assert.equal(exists(place.witness), true);
    });
  });
}

/** Runs a command while git replaces a file of settings. The command changes the file as soon as it can. */
async function whileRunning(
  pauses: boolean,
): Promise<{ readonly found: boolean; readonly notes: string; readonly end: string }> {
  let found = false, notes = "", end = "";
  await planted("settings in the workspace", async (place) => {
    const { workspace } = place, wall = wallOf(place);
    await asUser(
      "git checkout -q -b other && echo '[user]' > .gitsettings && git commit -qam x && git checkout -q -",
      place,
    );
    const script =
      `echo up; until [ -e go ] && grep -q evil .gitsettings; do grep -q evil .gitsettings || printf "$SET" >> .gitsettings; done; echo planted; sleep 600`;
    const begun = Promise.withResolvers<void>(), over = Promise.withResolvers<void>(), stop = new AbortController();
    let output = "";
    const running = wall.spawn(workspace, ["/bin/sh", "-c", planting([script], place)], {
      title: "npm run dev",
      stop: stop.signal,
      onOutput: (_, bytes) => {
        output += new TextDecoder().decode(bytes);
        if (output.includes("up")) begun.resolve();
        if (output.includes("planted")) over.resolve();
      },
    }).then(() => "", String).finally(() => over.resolve());
    await begun.promise;
    const write = [workspace, join(workspace, ".git")];
    const options = { write, pauses, env: { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" } };
    const switched = await wall.spawn(workspace, ["git", "checkout", "-q", "other"], options);
    assert.equal(switched.code, 0, switched.stderr);
    notes = switched.notes.join();
    await Deno.writeTextFile(join(workspace, "go"), "");
    await over.promise;
    stop.abort();
    end = await running;
    await asUser(uses(place.tops), place);
    found = exists(place.witness);
  });
  return { found, notes, end };
}

Deno.test("a running command cannot change files that git brings meanwhile, and ends", { ignore }, async () => {
  const { found, notes, end } = await whileRunning(true);
  assert.equal(found, false);
  assert.match(
    notes,
    /^Ended npm run dev: it could have changed .*\.gitsettings, a new path that git or Vis uses/,
  );
  assert.match(end, /^Error: Cannot continue npm run dev: it could have changed/);
  assert.equal((await whileRunning(false)).found, true, "without a pause, it can");
});

Deno.test("a running command ends if Vis cannot search the files that git brings", { ignore }, async () => {
  await planted("a repository", async (place) => {
    const { workspace } = place, wall = wallOf(place), begun = Promise.withResolvers<void>();
    const running = wall.spawn(workspace, ["/bin/sh", "-c", "echo up; exec sleep 600"], {
      title: "npm run dev",
      onOutput: () => begun.resolve(),
    }).then(({ signal }) => `ended by ${signal}`, String);
    await begun.promise;
    const odd = `d=$(printf 'odd\\377'); mkdir -p $d/objects $d/refs; echo ref: refs/heads/main > $d/HEAD`;
    const options = { write: [workspace, join(workspace, ".git")], pauses: true };
    await assert.rejects(wall.spawn(workspace, ["/bin/sh", "-c", odd], options), /a name that is not UTF-8/);
    assert.match(await running, /^Error: Cannot continue npm run dev: Vis could not search the files/);
  });
});

/** Runs `flock` as another Vis would around a command (`shared`) or git; `end` ends it. */
async function otherVis(
  workspace: string,
  how: "shared" | "exclusive",
): Promise<{ readonly end: () => Promise<void> }> {
  const args = [`--${how}`, workspace, "/bin/sh", "-c", "echo up; exec cat"];
  const process = new Deno.Command("flock", { args, stdin: "piped", stdout: "piped" }).spawn();
  const reader = process.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return {
    end: async () => {
      await Promise.all([process.stdin.close(), process.stdout.cancel(), process.status]);
    },
  };
}

Deno.test("git brings no files while a command of another Vis runs, which it cannot pause", { ignore }, async () => {
  await planted("a repository", async (place) => {
    const { workspace } = place, wall = wallOf(place);
    const bring = () =>
      wall.spawn(workspace, ["git", "checkout", "-q", "-b", crypto.randomUUID()], {
        write: [workspace, join(workspace, ".git")],
        pauses: true,
      });
    const other = await otherVis(workspace, "shared");
    const refused =
      /^Error: Cannot change files in \S+: a command of another Vis process runs there \(Vis process \d+ runs cat\); stop that command first, for /;
    await assert.rejects(bring(), refused);
    assert.equal((await wall.spawn(workspace, ["true"])).code, 0);
    const begun = Promise.withResolvers<void>(), stop = new AbortController();
    const running = wall.spawn(workspace, ["/bin/sh", "-c", "echo up; exec sleep 600"], {
      stop: stop.signal,
      onOutput: () => begun.resolve(),
    });
    await begun.promise;
    await assert.rejects(bring(), refused, "with a command of its own, too");
    await other.end();
    assert.equal((await bring()).code, 0);
    assert.equal((await bring()).code, 0);
    stop.abort();
    await running;
  });
});

/** Runs a command until the file `end` exists and, once the file `go` exists, git beside it. */
const COMMAND_AND_GIT = `
const [workspace, name] = Deno.args, stop = new AbortController(), begun = Promise.withResolvers();
const command = ["/bin/sh", "-c", "echo up; exec sleep 600"];
const running = wall.spawn(workspace, command, { stop: stop.signal, onOutput: begun.resolve });
await begun.promise;
console.log("up");
const until = async (name) => {
  while (!await Deno.stat(workspace + "/" + name).catch(() => null)) await new Promise((go) => setTimeout(go, 5));
};
await until("go");
const git = ["git", "checkout", "-q", "-b", name], write = [workspace, workspace + "/.git"];
console.log(await wall.spawn(workspace, git, { write, pauses: true }).then(({ code }) => "code " + code, String));
await until("end");
stop.abort();
await running;
`;

Deno.test("git brings no files in two Vis at once, each of which runs a command", { ignore }, async () => {
  await planted("a repository", async ({ workspace }) => {
    const both = await Promise.all(["one", "two"].map(async (name) => {
      const process = await wallProcess(COMMAND_AND_GIT, [workspace, name]);
      const said = { text: "" }, output = process.stdout.pipeThrough(new TextDecoderStream());
      const read = (async () => {
        for await (const text of output) said.text += text;
      })();
      await until(() => said.text.startsWith("up\n"));
      return { said, ended: Promise.all([read, process.status, process.stderr.cancel()]) };
    }));
    await Deno.writeTextFile(join(workspace, "go"), "");
    await Promise.all(both.map(({ said }) => until(() => said.text.endsWith("\n") && said.text !== "up\n")));
    await Deno.writeTextFile(join(workspace, "end"), "");
    await Promise.all(both.map(({ ended }) => ended));
    for (const { said } of both) {
      assert.match(said.text, /^up\nError: Cannot change files in \S+: (?:a command|git) of another Vis/);
    }
  });
});

Deno.test("a command begins once git of another Vis has brought its files", { ignore }, async () => {
  await planted("a repository", async (place) => {
    const { workspace } = place, wall = wallOf(place);
    const other = await otherVis(workspace, "exclusive");
    const abort = new AbortController(), reason = new Error("enough");
    const first = wall.spawn(workspace, ["true"], { signal: abort.signal });
    const order: string[] = [];
    const second = wall.spawn(workspace, ["true"]).then(({ code }) => order.push(`command ${code}`));
    abort.abort(reason);
    await assert.rejects(first, reason);
    order.push("git");
    await other.end();
    await second;
    assert.deepEqual(order, ["git", "command 0"]);
  });
});

for (const first of ["git", "the command"]) {
  Deno.test(`a command cannot change files that git brings while it begins, ${first} first`, { ignore }, async () => {
    await planted("settings in the workspace", async (place) => {
      const { workspace } = place, wall = wallOf(place), other = wallOf(place); // Conversations have walls of their own.
      await asUser(
        "git checkout -q -b other && echo '[user]' > .gitsettings && git commit -qam x && git checkout -q -",
        place,
      );
      const script = `for try in $(seq 300); do printf "$SET" >> .gitsettings && break; sleep 0.01; done`;
      const plant = () => wall.spawn(workspace, ["/bin/sh", "-c", planting([script], place)]);
      const bring = () =>
        other.spawn(workspace, ["/bin/sh", "-c", "sleep 1; git checkout -q other"], {
          write: [workspace, join(workspace, ".git")],
          pauses: true,
          env: { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" },
        });
      await Promise.allSettled(first === "git" ? [bring(), plant()] : [plant(), bring()]);
      await asUser(uses(place.tops), place);
      assert.equal(exists(place.witness), false);
    });
  });
}

Deno.test("a command continues after git brought no obeyed file", { ignore }, async () => {
  await planted("a repository", async (place) => {
    const { workspace } = place, wall = wallOf(place);
    const begun = Promise.withResolvers<void>(), stop = new AbortController();
    const script = "sleep 600 & while :; do echo up; sleep 0.01; done";
    let lines = 0, more = Promise.withResolvers<void>();
    const running = wall.spawn(workspace, ["/bin/sh", "-c", script], {
      stop: stop.signal,
      onOutput: () => {
        lines++;
        begun.resolve();
        more.resolve();
      },
    });
    await begun.promise;
    const git = ["/bin/sh", "-c", "git checkout -q -b other && echo x > b.txt"];
    const write = [workspace, join(workspace, ".git")];
    const { notes } = await wall.spawn(workspace, git, { write, pauses: true });
    more = Promise.withResolvers<void>();
    await more.promise;
    stop.abort();
    assert.equal((await running).signal, "SIGTERM");
    assert.deepEqual(notes, []);
    assert.ok(lines > 1);
  });
});

Deno.test("a command that outlives others finds nothing missing that it could make", { ignore }, async () => {
  await planted("no repository", async (place) => {
    const wall = wallOf(place), { workspace } = place;
    const run = (script: string) => {
      const input = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
      const begun = Promise.withResolvers<void>();
      const ended = wall.spawn(workspace, ["/bin/sh", "-c", `echo up; read line; ${script}`], {
        input: input.readable,
        onOutput: () => begun.resolve(),
      });
      return { begun: begun.promise, ended, goOn: async () => await input.writable.close() };
    };
    const first = run("true");
    await first.begun;
    const second = run("mkdir -p .vis; echo {} > .vis/config.jsonc; git init -q .; echo x > .git/config");
    await second.begun;
    await first.goOn();
    await first.ended;
    await second.goOn();
    await second.ended;
    assert.deepEqual([...Deno.readDirSync(workspace)].map(({ name }) => name), []);
  });
});

Deno.test(
  "empty folders of a Vis that was killed hold until the next command, and go with it",
  { ignore },
  async () => {
    await planted("no repository", async (place) => {
      const { workspace } = place;
      for (const name of [".git", ".vis"]) {
        await Deno.mkdir(join(workspace, name));
        await Deno.chmod(join(workspace, name), 0o1755);
      }
      await wallOf(place).spawn(workspace, ["/bin/sh", "-c", "echo x > .vis/x; echo x > .git/x"]);
      assert.deepEqual([...Deno.readDirSync(workspace)], []);
    });
  },
);

Deno.test(
  "settings that name more missing paths than can be kept stop commands, and leave nothing",
  { ignore },
  async () => {
    await planted("a repository", async (place) => {
      const { workspace } = place;
      const many = Array.from({ length: 300 }, (_, at) => `\tpath = ../missing${at}/settings\n`).join("");
      await Deno.writeTextFile(join(workspace, ".git/config"), `[include]\n${many}`);
      const many2 = Array.from({ length: 1_100 }, (_, at) => `\thooksPath = hooks${at}\n`).join("");
      await Deno.writeTextFile(join(workspace, ".git/config"), `[core]\n${many2}`, { append: true });
      await assert.rejects(
        wallOf(place).spawn(workspace, ["true"]),
        /^Error: Cannot run commands: repositories in .* name \d+ missing paths that git would use/,
      );
      assert.deepEqual([...Deno.readDirSync(workspace)].map(({ name }) => name).sort(), [".git", "a.txt"]);
    });
  },
);

for (const path of [".", "linked/.."]) {
  Deno.test(`commands are refused where git runs hooks from the workspace itself, by ${path}`, { ignore }, async () => {
    await planted("a repository", async (place) => {
      await asUser(`mkdir a && ln -s a linked && git config core.hooksPath ${path}`, place);
      await assert.rejects(
        wallOf(place).spawn(place.workspace, ["true"]),
        /^Error: Cannot run commands: they could change \/\S+, whose files git runs by the setting core.hooksPath; name/,
      );
    });
  });
}

Deno.test("commands are refused where git runs hooks from a path that is not UTF-8", { ignore }, async () => {
  await planted("a repository", async (place) => {
    await asUser("git config core.hooksPath \"$(printf 'hooks\\377')\"", place);
    await assert.rejects(
      wallOf(place).spawn(place.workspace, ["true"]),
      /^Error: Cannot run commands: \S*hooks\ufffd, which git runs by the setting core.hooksPath, has a name that is not UTF-8/,
    );
  });
});

Deno.test("words of settings that name nothing stop no command, in however many repositories", { ignore }, async () => {
  await planted("a repository", async (place) => {
    const { root, workspace } = place;
    const words = Array.from({ length: 1_500 }, (_, at) => `word${at}`).join(" ");
    await Deno.writeTextFile(join(root, "home/.gitconfig"), `[alias]\n\tmany = "!echo ${words}"\n`);
    for (let at = 0; at < 80; at++) {
      await Deno.mkdir(join(workspace, `below${at}/.git`), { recursive: true });
      await Deno.writeTextFile(join(workspace, `below${at}/.git/HEAD`), "ref: refs/heads/main\n");
    }
    await Deno.writeTextFile(join(workspace, "below7/word7"), "kept");
    const script = "echo x > below7/word7; echo x > below7/word8; cat below7/word7; ls below*/.git | grep -c HEAD";
    const { stdout } = await wallOf(place).spawn(workspace, ["/bin/sh", "-c", script]);
    assert.equal(stdout, "kept80\n");
    // A word applies from the next command on.
    const again = await wallOf(place).spawn(workspace, ["/bin/sh", "-c", "echo y > below7/word8; cat below7/word8"]);
    assert.equal(again.stdout, "x\n");
  });
});

Deno.test("a command makes no repository in a folder outside that it may change", { ignore }, async () => {
  await planted("no repository", async (place) => {
    const { root, workspace: around } = place, beside = join(root, "beside"), workspace = join(around, "inner");
    for (const path of [workspace, beside]) await Deno.mkdir(path);
    const script =
      `for d in .. ../../beside; do git init -q $d; mkdir -p $d/.git $d/.vis; printf "$SET" > $d/.git/config
      git init -q --bare new.git; cp -r new.git/* $d/; echo x > $d/.vis/config.jsonc; echo kept > $d/file; done`;
    const facts = () => [around, beside].map((folder) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort());
    await wallOf(place).spawn(workspace, ["/bin/sh", "-c", planting([script], place)], {
      write: [workspace, around, beside],
    });
    const found = facts().map((names) =>
      names.filter((name) => [".git", ".vis", "refs", "commondir", "file"].includes(name))
    );
    assert.deepEqual(found, [["file"], ["file"]]);
    await asUser(uses(["inner", "../beside"]), place);
    assert.equal(exists(place.witness), false);
  });
});
