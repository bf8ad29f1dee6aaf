import assert from "node:assert/strict";
import web from "../../../extensions/web/mod.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { recordingLog, VIEW } from "../../extension/_sample.ts";
import { reply, site } from "./_site.ts";

const ROOT = { provider: "some", model: "some-1" };
const SEARCHING: NonNullable<EnvironmentView["router"]> = { providers: [], root: ROOT, search: ROOT };
const WITHOUT: NonNullable<EnvironmentView["router"]> = { providers: [], root: ROOT, search: null };
const PAGE = { title: "Deno 2.9", url: "https://deno.com/blog/v2.9" };

type Result = { readonly text: string; readonly sources: readonly { readonly title: string; readonly url: string }[] };

async function rig(
  section: object,
  { router = SEARCHING, found = { text: "Deno 2.9.", sources: [PAGE] }, ...own }: Partial<EnvironmentView> & {
    readonly found?: Result;
  } = {},
) {
  const registry = new ExtensionRegistry({ log: recordingLog().log, home: "/h", config: { "vis.web": section } });
  registry.register(web);
  const queries: string[] = [];
  const searchWeb = (query: string) => (queries.push(query), Promise.resolve(found));
  const env: EnvironmentView = { ...VIEW, router, searchWeb, ...own };
  const active = await registry.activate(env);
  const { signal } = new AbortController();
  return {
    queries,
    active,
    block: active.blocks[0] ?? "",
    search: (...args: unknown[]) => active.call("web.search", args, { env, signal }) as Promise<Result>,
    get: (address: string) => active.call("web.get", [address], { env, signal }),
  };
}

function answering(allowed: boolean) {
  const asked: unknown[] = [];
  const approve = (request: unknown) => {
    asked.push(request);
    return Promise.resolve({ allowed, reason: allowed ? "" : "the user said no" });
  };
  return { asked, approve };
}

Deno.test("the prompt names web.search only where a search exists, and is otherwise as short as without it", async () => {
  const line = "web.search(query): {text, sources: {title, url}[]}  // Cite the sources as links.";
  assert.equal(
    (await rig({}, { router: WITHOUT })).block,
    "## web\nHTTP; the user allows hosts.\nMore (doc): get, post, readable",
  );
  assert.equal(
    (await rig({})).block,
    `## web\nHTTP; the user allows hosts.\n${line}\nMore (doc): get, post, readable`,
  );
  assert.ok((await rig({ hosts: ["a.example"] })).block.includes(`// A page as Markdown.\n${line}\n`));
  assert.ok((await rig({ searchUrl: "http://localhost:8888/search" }, { router: WITHOUT })).block.includes(line));
});

Deno.test("a search needs an approval that shows the query and its destination, unless the settings allow it", async () => {
  const no = answering(false);
  const refused = await rig({}, { approve: no.approve });
  await assert.rejects(
    refused.search('the "secret"\nword'),
    /^HostCallError: Cannot search the web: searches are not allowed \(the user said no\); the user allows them with vis config set web\.search true$/,
  );
  assert.deepEqual([refused.queries, no.asked], [[], [{
    what: 'search the web, by some, for "the \\"secret\\"\\nword"',
    why: "",
    scope: "searches of the web",
    option: "--set web.search=true",
  }]]);
  const yes = answering(true);
  const allowed = await rig({}, { approve: yes.approve });
  assert.deepEqual(await allowed.search("deno"), { text: "Deno 2.9.", sources: [PAGE] });
  const elsewhere = await rig({ searchUrl: "https://find.example/search" }, { approve: no.approve });
  await assert.rejects(elsewhere.search("deno"), /not allowed/);
  assert.match(JSON.stringify(no.asked.at(-1)), /search the web, by find\.example, for/);
  const unasked = await rig({ search: true }, { approve: no.approve });
  await unasked.search("deno");
  assert.equal(no.asked.length, 2);
});

Deno.test("where Vis can ask nobody, a search is refused unless the settings allow it", async () => {
  const nobody = await rig({});
  await assert.rejects(nobody.search("deno"), /searches are not allowed \(no user can answer here\)/);
  assert.deepEqual(nobody.queries, []);
  await (await rig({ search: true })).search("deno");
});

Deno.test("without a search, the error names the setting and needs no approval", async () => {
  const { asked, approve } = answering(true);
  const { search } = await rig({}, { router: WITHOUT, approve });
  await assert.rejects(
    search("deno"),
    /^HostCallError: Cannot search the web: Vis knows no search of the service for some-1; the user can set web\.searchUrl to the address of a SearXNG server, or choose another model$/,
  );
  assert.deepEqual(asked, []);
});

Deno.test("texts and titles of a search are bounded and have no control characters, and sources are links", async () => {
  const found = {
    text: `a\u001b[2J\tb\n${"x".repeat(30_000)}`,
    sources: [
      { title: "One\u001b]0;\u0007\n two", url: "https://one.example/" },
      { title: "again", url: "https://one.example" },
      { title: "script", url: "javascript:alert(1)" },
      { title: "", url: "http://two.example/x" },
      { title: "t".repeat(900), url: "https://three.example/" },
      { title: "long", url: `https://four.example/${"u".repeat(3000)}` },
      { title: "five", url: "https://five.example/" },
    ],
  };
  const { search } = await rig({ search: true }, { found });
  const { text, sources } = await search("deno", { limit: 3 });
  assert.equal(text.length, 20_000);
  assert.ok(text.startsWith("a[2J\tb\nxxx"), JSON.stringify(text.slice(0, 20)));
  assert.deepEqual(sources.map(({ url }) => url), [
    "https://one.example/",
    "http://two.example/x",
    "https://three.example/",
  ]);
  assert.deepEqual(sources.map(({ title }) => title.slice(0, 12)), ["One ]0; two", "two.example", "tttttttttttt"]);
  assert.equal(sources[2]?.title.length, 200);
});

Deno.test("a plan may search, and people read the query and the number of sources", async () => {
  const { active } = await rig({ search: true });
  assert.ok(active.reads("web.search", ["deno"], { onlyReads: true }));
  assert.deepEqual(active.actions["web.search"]?.(["deno"]), {
    doing: "searching the web:",
    done: "searched the web:",
    things: "queries",
  });
  const told: unknown[] = [];
  const env = { ...VIEW, router: SEARCHING, searchWeb: () => Promise.resolve({ text: "", sources: [PAGE] }) };
  const { signal } = new AbortController();
  await active.call("web.search", ["deno"], { env, signal, told: ({ text }) => told.push(text) });
  assert.deepEqual(told, ["1 source"]);
});

const RESULTS = {
  query: "deno",
  results: [
    { title: "Deno 2.9", url: "https://deno.com/blog/v2.9", content: "Deno 2.9\n is  out", engine: "duckduckgo" },
    { title: "No link", url: "javascript:1", content: "x" },
    { title: "News", url: "https://news.example/", content: null },
    null,
  ],
};

Deno.test("web.searchUrl: the results of a SearXNG server are the text and the sources", async () => {
  const there = site({
    "/search?language=en&q=deno+%26+node&format=json": reply(JSON.stringify(RESULTS), {
      "content-type": "application/json",
    }),
  });
  try {
    const address = `http://localhost:${there.port}/search?language=en`;
    const { search, get, queries } = await rig({ search: true, searchUrl: address });
    assert.deepEqual(await search("deno & node"), {
      text: "1. Deno 2.9\nDeno 2.9 is out\n\n2. News",
      sources: [{ title: "Deno 2.9", url: "https://deno.com/blog/v2.9" }, {
        title: "News",
        url: "https://news.example/",
      }],
    });
    assert.equal((await search("deno & node", { limit: 1 })).sources.length, 1);
    assert.deepEqual(queries, [], "the search of the service is not used");
    await assert.rejects(get(address), /not in web\.local/, "the setting allows searches only");
  } finally {
    await there.close();
  }
});

Deno.test("web.searchUrl: a refusal, another answer, a redirect to another host and no results", async () => {
  const json = { "content-type": "application/json" };
  const there = site({
    "/html?q=a&format=json": reply("Forbidden", {}, 403),
    "/down?q=a&format=json": reply("Bad gateway", {}, 502),
    "/page?q=a&format=json": reply("<html>Welcome</html>", { "content-type": "text/html" }),
    "/other?q=a&format=json": reply('{"error": "x"}', json),
    "/away?q=a&format=json": reply("", { location: "http://127.0.0.2:1/" }, 302),
    "/none?q=a&format=json": reply('{"results": []}', json),
  });
  const at = async (path: string) => {
    const searchUrl = `http://127.0.0.1:${there.port}/${path}`;
    return await (await rig({ search: true, searchUrl })).search("a");
  };
  try {
    await assert.rejects(at("html"), /refused with status 403; a SearXNG server needs json in search\.formats/);
    await assert.rejects(at("down"), /Cannot search the web by 127\.0\.0\.1:\d+: it failed with status 502$/);
    for (const path of ["page", "other"]) {
      await assert.rejects(at(path), /its response is not the JSON of a SearXNG search; check web\.searchUrl$/);
    }
    await assert.rejects(at("away"), /the host 127\.0\.0\.2:1 is not in web\.local/);
    assert.deepEqual(await at("none"), { text: "", sources: [] });
  } finally {
    await there.close();
  }
});
