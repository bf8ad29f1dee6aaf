import assert from "node:assert/strict";
import { join } from "node:path";
import { checkCommand, diagnoseServers } from "../../../extensions/mcp/check_servers.ts";
import { ServerLink } from "../../../extensions/mcp/server_link.ts";
import { Stdio } from "../../../extensions/mcp/settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { VIEW } from "../../extension/_sample.ts";
import { lives } from "../../processes/lives.ts";
import { denoServer, missing, ownServer, type Place, withServers } from "./_place.ts";

const FAULTY = ownServer("faulty.js");
const faulty = (mode: string, more: object = {}, ...args: string[]): object => ({
  ...denoServer(FAULTY, mode, ...args),
  startMs: 20_000,
  ...more,
});
const test = (name: string, run: () => Promise<void>): void =>
  Deno.test({ name: missing ? `${name} (${missing})` : name, ignore: missing !== "", fn: run });

const withOne = (mode: string, run: (place: Place) => Promise<void>, more: object = {}): Promise<void> =>
  withServers({ s: faulty(mode, more) }, run);

test("mcp: a server that dies at its start is started twice, and the error has its last words", async () => {
  await withOne("dies", async ({ call }) => {
    await assert.rejects(call("mcp.tools", ["s"]), /Cannot use MCP server s: .*code 3: cannot find my settings/s);
    await assert.rejects(
      call("mcp.tools", ["s"]),
      /it failed twice, and Vis tries it again in 60 s at the.*it ended with code 3: cannot find my settings/s,
    );
  });
  const once = Deno.makeTempDirSync({ prefix: "vis-mcp-once-" });
  try {
    await withServers({ s: faulty("dies once", { write: [once] }, once) }, async ({ call }) => {
      assert.match(String(await call("mcp.tools", ["s"])), /s: 1 tool\./);
    });
  } finally {
    await Deno.remove(once, { recursive: true });
  }
});

test("mcp: a server whose file the wall hides fails with the line that names the file, and with the folder to allow", async () => {
  await withFolder(async (root) => {
    const file = join(root, "dist/server.js");
    await Deno.mkdir(join(root, "dist"));
    await Promise.all([Deno.writeTextFile(file, ""), Deno.writeTextFile(join(root, "package.json"), "{}")]);
    await withServers({ s: { ...denoServer(file), read: [] } }, async ({ call }) => {
      const error: unknown = await call("mcp.tools", ["s"]).catch((reason: unknown) => reason);
      assert.ok(error instanceof Error);
      assert.match(error.message, /ended with code 1: error: Module not found "file:\/\/.*dist\/server\.js"/);
      assert.ok(error.message.includes(`hides ${file}, so allow ${root} with the setting read`), error.message);
    });
  });
});

test("mcp: a server that never answers, or speaks something else, ends with a clear error and leaves nothing", async () => {
  const table: readonly (readonly [string, RegExp, object?])[] = [
    ["silent", /Cannot use MCP server s: Vis could not connect/, { startMs: 300 }],
    ["garbage", /it does not speak the protocol, and it wrote 200 lines that are not messages, the first: Welcome/],
    ["flood", /it wrote a message of more than 16777216 bytes/],
    ["notifications", /unsolicited bytes|could not connect/, { startMs: 3_000 }],
    ["small notifications", /it wrote more than 10000 unsolicited messages, the limit/],
    ["refuses", /no key/],
    ["future", /2099-01-01/],
  ];
  for (const [mode, expected, more] of table) {
    await withOne(mode, async ({ call, close }) => {
      await assert.rejects(call("mcp.tools", ["s"]), expected, mode);
      await close();
      assert.ok(!lives(`${FAULTY} ${mode}`), mode);
    }, more);
  }
});

Deno.test("ServerLink.close() ends a running start", async () => {
  const spawn = (_argv: readonly string[], { stop }: { readonly stop: AbortSignal }) =>
    new Promise((resolve) => stop.addEventListener("abort", () => resolve({ code: 0, signal: null })));
  const link = new ServerLink("s", Stdio.parse({ command: "x", startMs: 600_000 }));
  const pending = assert.rejects(link.tools({ ...VIEW, spawn: spawn as never }), /Cannot use MCP server s/);
  await link.close();
  await pending;
});

test("mcp: servers of older versions of the protocol work, and servers that print a greeting", async () => {
  for (const mode of ["old", "chatty", "stderr flood"]) {
    await withOne(mode, async ({ call, log }) => {
      assert.match(String(await call("mcp.call", ["s", "run"])), /run of \d+/, mode);
      const logged = log.filter(({ event }) => event === "extension.note");
      assert.ok(logged.length < 100, `${logged.length}`);
    }, { startMs: 4_000 });
  }
});

test("mcp: a server that dies in a call is started again with the next one, and not for ever", async () => {
  await withOne("dies on call", async ({ call }) => {
    await assert.rejects(
      call("mcp.call", ["s", "run"]),
      /Cannot finish run of MCP server s: .*it ended with code 7 \(the tool may have run\)/,
    );
    await assert.rejects(call("mcp.call", ["s", "run"]), /it ended with code 7/);
  });
});

test("mcp: a hanging call ends by its time limit or its signal, the server learns it, and others continue", async () => {
  await withOne("hangs on call", async ({ call }) => {
    await call("mcp.tools", ["s"]);
    await assert.rejects(call("mcp.call", ["s", "run"]), /Cannot finish run of .*timed out \(the tool may have run\)/);
    const controller = new AbortController();
    const hanging = call("mcp.call", ["s", "run"], controller.signal);
    assert.deepEqual((await call("mcp.call", ["s", "cancelled"]) as string[]).length, 1);
    controller.abort(new Error("the block ended"));
    await assert.rejects(hanging);
    assert.deepEqual((await call("mcp.call", ["s", "cancelled"]) as string[]).length, 2);
  }, { timeoutMs: 400 });
});

test("mcp: answers that are too large or strange, and pages without end, are errors or data, never a hang", async () => {
  await withOne("large", async ({ call }) => {
    await assert.rejects(
      call("mcp.call", ["s", "run"]),
      /a message of more than 16777216 bytes, the limit \(the tool may have run\)/,
    );
  });
  await withOne("endless pages", ({ call }) => assert.rejects(call("mcp.tools", ["s"]), /Cannot use MCP server s/));
  await withOne("strange", async ({ call }) => assert.equal(await call("mcp.call", ["s", "run"]), "none"));
});

test("mcp: a server that lists less than others has nothing there, and nothing is printed", async () => {
  const printed: unknown[] = [], { debug } = console;
  console.debug = (...values) => void printed.push(...values);
  try {
    await withOne("no templates", async ({ call }) => {
      assert.deepEqual(await call("mcp.resources", ["s"]), [{ uri: "note://a", name: "a", template: false }]);
      assert.deepEqual(await call("mcp.prompts", ["s"]), []);
    });
    await withOne("no tools", async ({ call }) => {
      assert.match(String(await call("mcp.tools", ["s"])), /s: 0 tools/);
      assert.deepEqual(await call("mcp.resources", ["s"]), []);
    });
  } finally {
    console.debug = debug;
  }
  assert.deepEqual(printed, []);
});

test("mcp: an answer whose _meta is null is read", async () => {
  await withOne("null meta", async ({ call }) => {
    assert.match(String(await call("mcp.call", ["s", "run"])), /^run of \d+$/);
  }, { startMs: 4_000, timeoutMs: 4_000 });
});

test("mcp: a tool that its server describes wrongly is named, and the others are usable", async () => {
  await withOne("bad tools", async ({ call, approvals }) => {
    const list = String(await call("mcp.tools", ["s"]));
    assert.match(list, /^s: 4 tools\..*\ns\.run\(.*\ns\.nulls\(\): Promise<unknown>.*\ns\.single\(.*\ns\.list\(.*\n/);
    assert.match(list, /\nNot callable, as the server describes them wrongly: text, number 3, hint$/);
    assert.match(String(await call("mcp.call", ["s", "nulls"])), /^nulls of/);
    await assert.rejects(call("mcp.call", ["s", "hint"]), /the server has no tool of this name/);
    approvals.answer = { allowed: false, reason: "no" };
    await assert.rejects(
      call("mcp.call", ["s", "list"]),
      /the server marks it as destructive, and no; vis config set.* true allows it without a question/,
    );
  });
});

test("mcp: an empty cursor is the end of a list", async () => {
  await withOne(
    "empty cursor",
    async ({ call }) => assert.match(String(await call("mcp.tools", ["s"])), /s: 1 tool\./),
  );
});

test("mcp: thousands of tools can be called, and the list counts the omitted ones", async () => {
  await withOne("many", async ({ call, begin, env, workspace, home, spawn, settings }) => {
    assert.match(
      String(await call("mcp.tools", ["s"])),
      /^s: 10000 tools\..*\n3 tools are omitted: the limit is 10000$/s,
    );
    assert.match(String(await call("mcp.call", ["s", "t9999"])), /^t9999 of/);
    assert.equal((await begin()).functions.filter((name) => name.startsWith("s.")).length, 300);
    let said = "";
    const context = { config: settings, workspace, home, spawn, print: (text: string) => void (said += text) };
    await checkCommand("s", { ...context, ask: () => Promise.reject(), store: env.store ?? assert.fail() });
    assert.equal(JSON.parse(said).found, "10000 tools; 3 tools are omitted: the limit is 10000");
  });
});

test("mcp: progress starts the time limit of a call again, but not for ever", async () => {
  await withOne("progress", async ({ call }) => {
    assert.equal(await call("mcp.call", ["s", "run", { steps: 75 }]), "75 steps");
  }, { timeoutMs: 1_000 });
  await withOne("progress", async ({ call }) => {
    await assert.rejects(call("mcp.call", ["s", "run"]), /the tool may have run/);
  }, { timeoutMs: 100 });
});

test("mcp: tools that change are read again", async () => {
  await withOne("growing", async ({ call, begin }) => {
    assert.match(String(await call("mcp.tools", ["s"])), /s: 1 tool\./);
    await call("mcp.call", ["s", "grow"]);
    assert.match(String(await call("mcp.call", ["s", "new"])), /new of/);
    assert.match(String(await call("mcp.tools", ["s"])), /s: 2 tools/);
    assert.deepEqual((await begin()).functions.filter((name) => name.startsWith("s.")), ["s.grow", "s.new"]);
  });
});

test("mcp: names become names of functions, collisions are named; schemas become bounded types", async () => {
  await withOne("names", async ({ call, begin }) => {
    const list = String(await call("mcp.tools", ["s"]));
    assert.match(list, /s\.a_b_2\(\).*\(its name is "a-b"\)/);
    assert.match(list, /s\._then\(\).*"then"/);
    const { functions } = await begin();
    assert.deepEqual(functions.filter((name) => name.startsWith("s.")), [
      "s.a_b_2",
      "s.a_b",
      "s.a_b_3",
      "s._then",
      "s._1x",
      "s.gr__e",
      "s.ok",
    ]);
    assert.match(String(await call("s.a_b_2")), /^a-b of/);
    assert.match(String(await call("mcp.call", ["s", "_1x"])), /^1x of/);
  });
  await withOne("schemas", async ({ call }) => {
    const list = String(await call("mcp.tools", ["s"]));
    assert.match(
      list,
      /s\.tree\(args: \{root: \{next\?: \{next\?: .*"odd key"\?: "a" \| 1 \| null\}\): Promise<\{ok: boolean\}> {2}\/\/ Says \*\/ things over lines\./,
    );
    assert.ok(list.length < 2_000);
    await assert.rejects(
      call("mcp.call", ["s", "tree", {}]),
      /Cannot call tree: args lacks root; usage: mcp\.call\("s", "tree", args: \{/,
    );
  });
});

test("mcp: secrets show in no error, and a variable that is not set is named", async () => {
  const servers = {
    s: { ...faulty("leaks"), env: { TOKEN: "very-secret-value" } },
    unset: { ...faulty("good"), env: { TOKEN: "${NOT_SET}" } },
    unsaved: { ...faulty("good"), env: { TOKEN: "${auth:tracker}" } },
  };
  await withServers(servers, async ({ call, log }) => {
    await assert.rejects(call("mcp.call", ["s", "run"]), /no access with \[secret\]/);
    await assert.rejects(call("mcp.tools", ["unset"]), {
      message:
        "Cannot use MCP server unset: its setting TOKEN needs ${NOT_SET}, which the environment of Vis lacks; set this variable and start Vis again",
    });
    await assert.rejects(call("mcp.tools", ["unsaved"]), {
      message:
        "Cannot use MCP server unsaved: its setting TOKEN needs ${auth:tracker}; save it with vis auth login tracker",
    });
    assert.doesNotMatch(JSON.stringify(log), /very-secret-value/);
  });
});

test("mcp: a server has no network unless its settings give it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const conn of listener) accepted.push(conn);
  })();
  const server = (network: boolean): object =>
    faulty("connects", { network }, String((listener.addr as Deno.NetAddr).port));
  try {
    await withServers({ shut: server(false), open: server(true) }, async ({ call }) => {
      await assert.rejects(call("mcp.call", ["shut", "run"]), /Cannot finish run: /);
      assert.equal(accepted.length, 0);
      assert.equal(await call("mcp.call", ["open", "run"]), "connected");
      assert.equal(accepted.length, 1);
    });
  } finally {
    listener.close();
    await accepting;
    for (const conn of accepted) conn.close();
  }
});

test("mcp: a server is started with its first use, sees only permitted files, and ends with the conversation", async () => {
  await withServers(
    { s: faulty("good"), off: { ...faulty("good"), disabled: true } },
    async ({ call, close, begin }) => {
      const { blocks } = await begin();
      assert.match(blocks.join(), /MCP servers: s\./);
      assert.deepEqual(await call("mcp.servers"), [{ name: "s", alias: "s", state: "stopped" }]);
      assert.ok(!lives(`${FAULTY} good`));
      await Promise.all([call("mcp.tools", ["s"]), call("mcp.tools", ["s"]), call("mcp.call", ["s", "run"])]);
      const pids = await Promise.all([call("mcp.call", ["s", "run"]), call("mcp.call", ["s", "run"])]);
      assert.equal(pids[0], pids[1]);
      assert.ok(lives(`${FAULTY} good`));
      await assert.rejects(
        call("mcp.tools", ["off"]),
        /Cannot use MCP server off: no MCP server has this name; choose one of s/,
      );
      await close();
      assert.ok(!lives(`${FAULTY} good`));
      await assert.rejects(call("mcp.call", ["s", "run"]), /Cannot use MCP server s/);
    },
  );
});

Deno.test("mcp is inactive without servers, and names the fault of a server", async () => {
  await withServers({}, async ({ begin }) => {
    assert.deepEqual([(await begin()).functions, (await begin()).blocks], [[], []]);
  });
  for (
    const server of [{}, { command: "x", url: "https://x.example" }, { url: "file:///x" }, { command: "x", args: "y" }]
  ) {
    await assert.rejects(withServers({ s: server }, async () => {}), /extensions\.config\.vis\.mcp\.servers\.s/);
  }
  await assert.rejects(
    withServers({ "a b": { command: "x" } }, async () => {}),
    /extensions\.config\.vis\.mcp\.servers/,
  );
  const both = { "a-b": { command: "x" }, "a_b": { command: "x" } };
  await assert.rejects(withServers(both, async () => {}), /two names that give the same alias/);
  await withServers(
    { console: { command: "x" }, "my-fs": { command: "x" }, fs: { command: "x" }, tables: { command: "x" } },
    async ({ call }) => {
      const listed = await call("mcp.servers") as { alias: string }[];
      assert.deepEqual(listed.map(({ alias }) => alias), ["console_mcp", "my_fs", "fs_mcp", "tables_mcp"]);
    },
  );
});

test("mcp: the error of a program that its wall stopped names the settings that allow more", async () => {
  const program = (script: string) => ({ command: "/bin/sh", args: ["-c", script] });
  const servers = {
    writer: program("echo x > /usr/nothing-may-be-written-here; exit 1"),
    loader: program("echo 'npm error code EAI_AGAIN registry.example' >&2; exit 1"),
  };
  await withServers(servers, async ({ call }) => {
    await assert.rejects(call("mcp.tools", ["writer"]), /allow more with the settings write/);
    await assert.rejects(call("mcp.tools", ["loader"]), /it has no network, so set network to true/);
  });
});

test("mcp: the check shows the number of tools, or why a server cannot be used and the remedy", async () => {
  const unset = { ...faulty("good"), env: { TOKEN: "${auth:tracker}" } };
  const gone = faulty("good", { command: "nosuchprogram" });
  await withServers({ good: faulty("good"), gone, unset }, async ({ env, workspace, home, spawn, settings }) => {
    const lines: string[] = [];
    const context = { config: settings, workspace, home, spawn, print: (text: string) => void lines.push(text) };
    const cli = { ...context, ask: () => Promise.reject(), store: env.store ?? assert.fail() };
    assert.equal(await checkCommand(undefined, cli), 1);
    assert.deepEqual(lines.map((line) => JSON.parse(line)), [
      { name: "good", state: "ok", found: "1 tool" },
      {
        name: "gone",
        state: "failed",
        found:
          "Vis could not connect (Vis cannot run nosuchprogram: the program does not exist, or its interpreter does not)",
      },
      {
        name: "unset",
        state: "secret",
        found: "its setting TOKEN needs ${auth:tracker}; save it with vis auth login tracker",
      },
    ]);
    lines.length = 0;
    assert.equal(await checkCommand("good", cli), 0);
    assert.equal(lines.length, 1);
    const doctor = await diagnoseServers({ config: settings, workspace, home, spawn: null, spawnInWorkspace: null });
    assert.deepEqual(doctor.map(({ name, state }) => `${name} ${state}`), [
      "mcp: good warn",
      "mcp: gone warn",
      "mcp: unset warn",
    ]);
    assert.ok(doctor.every(({ fix }) => fix !== ""));
  });
});

Deno.test("mcp: the check says why it has no server to check", async () => {
  const off = { off: { ...faulty("good"), disabled: true } };
  const cases = [
    [{}, undefined, 0, "The settings have no MCP servers. vis mcp add NAME COMMAND-OR-URL adds one.\n"],
    [{}, "x", 2, "The settings have no MCP servers. vis mcp add NAME COMMAND-OR-URL adds one.\n"],
    [off, undefined, 0, "No servers are enabled. vis mcp list shows all servers.\n"],
    [off, "off", 2, "No enabled server is named off. vis mcp list shows all servers.\n"],
  ] as const;
  for (const [servers, name, code, said] of cases) {
    let out = "";
    const context = { config: { servers }, print: (text: string) => void (out += text) };
    assert.equal(await checkCommand(name, context as never), code);
    assert.equal(out, said);
  }
});

test("mcp: the user reads once that a server could not be used", async () => {
  await withServers({ gone: faulty("good", { command: "nosuchprogram" }) }, async ({ call, begin }) => {
    const active = await begin();
    await assert.rejects(call("mcp.tools", ["gone"]), /does not exist/);
    const said = (active.faults?.() ?? []).map(({ phase, error }) => `${phase}: ${error}`);
    assert.equal(said.length, 1);
    assert.match(
      said[0] ?? "",
      /^warn: Error: Vis could not use MCP server gone: Vis could not connect \(Vis cannot run nosuch/,
    );
  });
});
