import assert from "node:assert/strict";
import { replyJson } from "../helpers/scripted_provider.ts";
import { startRig, TOKEN } from "../channels/http/_rig.ts";

const PAGE = new URL("../../docs/serve/http.md", import.meta.url);

async function examples(): Promise<readonly string[]> {
  const blocks = (await Deno.readTextFile(PAGE)).matchAll(/^```sh\n([^]*?)^```/gm);
  return [...blocks].flatMap(([, text = ""]) => {
    return text.replaceAll("\\\n", "").split("\n").filter((line) => /^(curl|export) /.test(line));
  });
}

Deno.test("docs/serve/http.md: every curl of the page has the described effect", async () => {
  await using rig = await startRig([replyJson([], { final: "GET / and POST /" })]);
  const home = await Deno.makeTempDir({ prefix: "vis-docs-" });
  try {
    await Deno.mkdir(`${home}/.vis`);
    await Deno.writeTextFile(`${home}/.vis/server-token`, `${TOKEN}\n`);
    const [exports = "", ...curls] = await examples();
    assert.match(exports, /^export VIS=http:\/\/127\.0\.0\.1:7357 /);
    assert.ok(curls.length >= 3 && curls.every((line) => line.startsWith("curl ")));
    const known = { ID: "", QUERY: "" };
    const told: string[] = [];
    for (const line of curls) {
      const named = line.replace("queries/QUERY", `queries/${known.QUERY}`)
        .replace("conversations/ID", `conversations/${known.ID}`);
      const text = await sh(`${exports.replace("http://127.0.0.1:7357", rig.url.slice(0, -1))}\n${named}`, home);
      told.push(text);
      if (!text.startsWith("{")) continue;
      const { conversationId, queryId } = JSON.parse(text);
      Object.assign(known, conversationId && { ID: conversationId }, queryId && { QUERY: queryId });
    }
    const [made = "", answered = "", events = ""] = told;
    assert.equal(JSON.parse(made).title, "Routes");
    assert.deepEqual([JSON.parse(answered).status, JSON.parse(answered).answer], ["done", "GET / and POST /"]);
    assert.match(events, /^id: .*\nevent: started\n[^]*\nevent: final\n/m);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

async function sh(script: string, home: string): Promise<string> {
  const run = new Deno.Command("sh", { args: ["-euc", script], env: { HOME: home }, stdin: "null", stderr: "piped" });
  const { success, stdout, stderr } = await run.output();
  assert.ok(success, `${script}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
