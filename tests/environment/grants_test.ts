import assert from "node:assert/strict";
import { join } from "node:path";
import { defineExtension } from "../../src/extension/mod.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { LANDLOCK_ABI } from "../helpers/system_calls.ts";

/** Without this version of Landlock, grants are refused. */
const canGrant = LANDLOCK_ABI >= 4;

Deno.test({
  name: "a change of grants starts another child, which has the variables and the present grants",
  ignore: !canGrant,
  async fn() {
    await buildSandbox();
    const workspace = Deno.realPathSync(Deno.makeTempDirSync());
    Deno.mkdirSync(join(workspace, "handbook"));
    Deno.writeTextFileSync(join(workspace, "handbook/leave.md"), "28 days");
    Deno.writeTextFileSync(join(workspace, "private.md"), "secret");
    let active = false;
    const handbook = defineExtension({
      namespace: "com.acme.handbook",
      alias: { ns: "vis.ext.handbook", alias: "handbook" },
      doc: "Lets blocks read the handbook.",
      version: "1.0.0",
      prompt: "The handbook is in the folder handbook: await Deno.readTextFile('handbook/leave.md').",
      activate: () => active,
      globals: ["Deno.readTextFile"],
      allow: { read: ["handbook"] },
    });
    const children: Sandbox[] = [];
    const replies = [
      replyJson("const days = [20]\nfunction first() { return days[0] }\nconst had = typeof Deno", {
        final: "{{had}}",
      }),
      replyJson("const text = await Deno.readTextFile('handbook/leave.md')", { final: "{{text}}" }),
      replyJson("const other = await Deno.readTextFile('private.md').catch((e) => e.name)", { final: "{{other}}" }),
      replyJson("const all = [first(), text, typeof Deno].join()", { final: "{{all}}" }),
    ];
    try {
      await using engine = await startEngine(replies, {
        workspace,
        extensions: [handbook],
        openSandbox: async (options) => {
          const child = await openSandbox(options);
          children.push(child);
          return child;
        },
      });
      const ask = async (on: boolean): Promise<string> => {
        active = on;
        return (await engine.ask("x")).answer;
      };
      assert.equal(await ask(false), "undefined");
      assert.equal(await ask(true), "28 days");
      assert.equal(await ask(true), "NotCapable");
      // The grants are the same, so the child is too.
      assert.deepEqual(children.map(({ ended }) => ended), [true, false]);
      assert.equal(await ask(false), "20,28 days,undefined");
      assert.equal(children.length, 3);
    } finally {
      Deno.removeSync(workspace, { recursive: true });
    }
  },
});

Deno.test({
  name: "a grant that cannot be given ends the query with the reason, not with something wider",
  ignore: !canGrant,
  async fn() {
    await buildSandbox();
    const extension = defineExtension({
      namespace: "com.acme.missing",
      alias: { ns: "vis.ext.missing", alias: "missing" },
      doc: "Names a folder that is not there.",
      version: "1.0.0",
      globals: ["Deno.readTextFile"],
      allow: { read: ["/no/such/folder"] },
    });
    await using engine = await startEngine([replyJson("1"), replyJson("1")], { extensions: [extension] });
    const outcome = await engine.ask("x").then(({ status, reason }) => `${status} ${reason}`, String);
    assert.match(outcome, /the path does not exist/);
  },
});
