import type { VariableImage } from "../../src/domain/query/variable.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Branch, Store } from "../../src/persistence/store.ts";
import { encode } from "../../src/sandbox/codec/codec.ts";
import {
  block,
  image,
  iterate,
  iterationEnd,
  newIteration,
  newQuery,
  queryEnd,
  USAGE,
  utf8,
} from "../conformance/store/fixtures.ts";

export interface Filled {
  readonly workspace: string;
  readonly conversationIds: readonly string[];
  readonly branchIds: readonly string[];
  /** A branch that a sandbox can restore, with the names and values that a block must find in it. */
  readonly live: { readonly branch: Branch; readonly values: Readonly<Record<string, unknown>> };
  readonly keys: readonly { readonly branchId: string; readonly key: string }[];
  readonly large: string;
}

export const LIVE_WORKSPACE = "/flips/live";
const ITERATIONS = 40;
const LARGE = { pieces: 6, bytes: 30_000 };

/** Fills a database so that every table and index has more than one page. It stores every kind of data: values of each
 * encoding, forks, a retry, a cut query, sub-queries, scopes, states of extensions and keys of requests. */
export async function fillForFlips(path: string, seed: number): Promise<Filled> {
  let now = 1_800_000_000_000;
  const store = await openStore({ path, now: () => now += 7 });
  const workspace = "/flips/work";
  const noise = new Noise(seed);
  const main = await store.createConversation({ title: "Numbers and texts", channel: "cli", workspace });
  const large = await store.putLarge(pieces(noise));
  await longTurn(store, main.branchId, noise, large);
  const replaced = await failed(store, main.branchId);
  await retried(store, main.branchId, replaced);
  const forks = await forked(store, main);
  const child = await childTurns(store, main.branchId);
  await store.setScope(main.branchId, { names: ["n3", "n4"], scope: "forgotten" });
  const keys = await keyed(store, main.branchId);
  const others = await smallTurns(store, noise, workspace);
  const cut = await cutTurn(store, workspace);
  await states(store, [main.branchId, ...forks]);
  const live = await liveTurn(store);
  const gone = await store.createConversation({ title: "Gone", channel: "cli", workspace });
  await longTurn(store, gone.branchId, noise, null);
  await store.deleteConversation(gone.conversationId);
  await store.close();
  const roots = [main, ...others, cut, live.branch];
  return {
    workspace,
    conversationIds: roots.map(({ conversationId }) => conversationId),
    branchIds: [...roots.map(({ branchId }) => branchId), ...forks, child],
    live,
    keys,
    large,
  };
}

class Noise {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  next(): number {
    this.#state = Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5 | 0;
    return (this.#state ^ (this.#state >>> 13)) >>> 0;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.next() & 0xff);
  }

  words(count: number): string {
    return Array.from({ length: count }, () => `w${(this.next() % 5000).toString(36)}`).join(" ");
  }
}

async function* pieces(noise: Noise): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < LARGE.pieces; at++) yield utf8(noise.words(LARGE.bytes / 5));
}

async function longTurn(store: Store, branchId: string, noise: Noise, large: string | null): Promise<void> {
  const queryId = await store.beginQuery(newQuery(branchId, `long request ${noise.words(300)}`, {
    images: [{ kind: "bytes", mediaType: "image/png", bytes: noise.bytes(3000) }, {
      kind: "url",
      url: "https://x.y/z",
    }],
    answerSchema: `{"type":"object"}`,
    promptEnrichment: noise.words(400),
    runLabel: "long",
  }));
  let list = noise.bytes(60_000), table = noise.bytes(90_000);
  for (let position = 0; position < ITERATIONS; position++) {
    list = changed(list, noise), table = changed(table, noise);
    const saved: VariableImage[] = [
      image(`n${position % 12}`, { bytes: encode({ position, value: noise.next() }), reason: noise.words(3) }),
      ...(position % 5 === 0 ? [image("list", { bytes: list }), image("table", { bytes: table })] : []),
      ...(position % 7 === 0
        ? [
          image(`f${position}`, {
            kind: "function" as const,
            source: `function f${position}() { return ${position} }`,
          }),
        ]
        : []),
    ];
    const given = position === 0 && large !== null
      ? [image("context", { bytes: new Uint8Array(), large }), image("small", { bytes: noise.bytes(800) })]
      : [];
    const code = `const n${position % 12} = ${position} // ${noise.words(12)}`;
    const reads = position > 0 ? [`n${(position - 1) % 12}`] : [];
    await iterate(store, {
      queryId,
      position,
      given,
      blocks: [
        block(code, { saved, reads, value: noise.bytes(60), result: { stdout: noise.words(position % 3 * 200) } }),
        block(`boom(${position})`, { result: thrown(noise.words(9)) }),
      ],
      system: [{ name: "$reasoning", text: noise.words(20) }],
      ...(position % 10 === 9 ? { scopes: { live: ["n1"], forgotten: ["n2"] } } : {}),
    });
  }
  await store.endQuery(queryId, queryEnd({ answer: noise.words(500), iterations: ITERATIONS }));
}

function thrown(message: string) {
  const error = { name: "TypeError", message, line: 1, column: 2, excerpt: "boom", stack: "at 1:2" };
  return { ok: false, outcome: "error" as const, error };
}

function changed(bytes: Uint8Array<ArrayBuffer>, noise: Noise): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice();
  copy.set(noise.bytes(8), noise.next() % (copy.length - 8));
  return copy;
}

async function failed(store: Store, branchId: string): Promise<string> {
  const queryId = await store.beginQuery(newQuery(branchId, "a request that is run again"));
  await iterate(store, { queryId, position: 0, blocks: [block("const n1 = -1", { saved: [image("n1")] })] });
  const { response: _response, blocks: _blocks, ...asked } = newIteration(queryId, 1);
  await store.failIteration(asked, {
    error: "no reply",
    system: [],
    totals: { iterations: 2, usage: USAGE, costUsd: 0 },
    metadata: {},
  });
  await store.endQuery(queryId, queryEnd({ status: "error", reason: "provider", answer: "no model" }));
  return queryId;
}

async function retried(store: Store, branchId: string, retryOf: string): Promise<void> {
  const queryId = await store.beginQuery(newQuery(branchId, "", { retryOf }));
  const saved = [image("n1", { bytes: encode("after the retry") })];
  await iterate(store, { queryId, position: 0, blocks: [block("const n1 = 'after the retry'", { saved })] });
  await store.endQuery(queryId, queryEnd({ answer: "second run" }));
}

async function forked(store: Store, { branchId }: Branch): Promise<string[]> {
  const [first, last] = await store.queries(branchId);
  const found: string[] = [];
  for (
    const at of [{ queryId: first?.queryId ?? "", position: 17 }, { queryId: last?.queryId ?? "", position: -1 }]
  ) {
    const fork = await store.fork({ ...at, title: "A fork" });
    const queryId = await store.beginQuery(newQuery(fork.branchId, "in the fork"));
    const saved = [image("n5", { bytes: encode("of the fork") }), image("own", { bytes: encode(1) })];
    await iterate(store, {
      queryId,
      position: 0,
      blocks: [block("const n5 = 'of the fork'", { saved, reads: ["n6"] })],
    });
    await store.endQuery(queryId, queryEnd({ answer: "forked" }));
    found.push(fork.branchId);
  }
  return found;
}

async function childTurns(store: Store, branchId: string): Promise<string> {
  const queryId = await store.beginQuery(newQuery(branchId, "ask others"));
  const iterationId = await store.beginIteration(newIteration(queryId, 0, { blocks: ["await rlm.run('x')"] }));
  const child = await store.createChildBranch({
    ...{ branchId, iterationId, depth: 1, title: "a part" },
    images: [image("part", { bytes: encode([1, 2, 3]) })],
    copies: ["n7"],
  });
  const childId = await store.beginQuery(newQuery(child.branchId, "count the part"));
  await iterate(store, {
    queryId: childId,
    position: 0,
    blocks: [block("const count = 3", { saved: [image("count")] })],
  });
  await store.endQuery(childId, queryEnd({ answer: "3" }));
  for (let call = 0; call < 3; call++) {
    const facts = { provider: "openai", model: "m1", usage: USAGE, costUsd: 0.1 * call, ms: 12 };
    await store.recordSubCall({
      iterationId,
      ...facts,
      prompt: `part ${call}`,
      reply: "yes ".repeat(400),
      error: null,
    });
  }
  await store.endIteration(iterationId, iterationEnd([block("await rlm.run('x')")]));
  await store.endQuery(queryId, queryEnd({ answer: "asked" }));
  return child.branchId;
}

async function keyed(store: Store, branchId: string): Promise<Filled["keys"]> {
  const keys: { branchId: string; key: string }[] = [];
  for (let at = 0; at < 60; at++) {
    const requestKey = { branchId, key: `request-key-${at}`, fingerprint: String(at).repeat(32).slice(0, 32) };
    const queryId = await store.beginQuery(newQuery(branchId, `keyed ${at}`, { requestKey }));
    await store.endQuery(queryId, queryEnd({ answer: `keyed ${at}`, iterations: 0 }));
    keys.push({ branchId, key: requestKey.key });
  }
  return keys;
}

async function smallTurns(store: Store, noise: Noise, workspace: string): Promise<Branch[]> {
  const made: Branch[] = [];
  for (let at = 0; at < 50; at++) {
    const branch = await store.createConversation({
      title: `Small ${at} ${noise.words(4)}`,
      channel: at % 2 === 0 ? "telegram" : "cli",
      workspace: at < 5 ? workspace : "/flips/elsewhere",
      ...(at % 2 === 0 ? { externalId: `chat-${at}` } : {}),
    });
    if (at >= 5) continue;
    const queryId = await store.beginQuery(newQuery(branch.branchId, `small ${noise.words(8)}`));
    const saved = [image("only", { bytes: encode(noise.next()) })];
    await iterate(store, { queryId, position: 0, blocks: [block("const only = 1", { saved })] });
    await store.endQuery(queryId, queryEnd({ answer: noise.words(6) }));
    made.push(branch);
  }
  return made;
}

async function cutTurn(store: Store, workspace: string): Promise<Branch> {
  const branch = await store.createConversation({ title: "Cut", channel: "cli", workspace });
  const queryId = await store.beginQuery(newQuery(branch.branchId, "cut"));
  await iterate(store, { queryId, position: 0, blocks: [block("const kept = 1", { saved: [image("kept")] })] });
  await store.beginIteration(newIteration(queryId, 1, { blocks: ["never()"], given: [image("late")] }));
  await store.sweepLost(() => false);
  return branch;
}

async function states(store: Store, branchIds: readonly string[]): Promise<void> {
  for (const branchId of [null, ...branchIds]) {
    for (let at = 0; at < 30; at++) {
      const place = { namespace: at % 3 === 0 ? "flips.a" : "flips.b", branchId };
      for (let version = 0; version <= at % 3; version++) {
        const value = { at, version, text: at % 10 === 0 ? `long ${at} `.repeat(300) : "short" };
        await store.states.put(place, { key: `key ${at}`, value });
      }
      if (at % 11 === 5) await store.states.delete(place, `key ${at}`);
    }
  }
}

async function liveTurn(store: Store): Promise<Filled["live"]> {
  const branch = await store.createConversation({ title: "Live", channel: "test", workspace: LIVE_WORKSPACE });
  const queryId = await store.beginQuery(newQuery(branch.branchId, "make numbers"));
  const values: Record<string, unknown> = {};
  const saved = Array.from({ length: 12 }, (_, at) => {
    const value = at % 4 === 0 ? Array.from({ length: 3000 }, (_, n) => n * at) : { at, text: `value ${at}` };
    values[`v${at}`] = value;
    return image(`v${at}`, { bytes: encode(value) });
  });
  await iterate(store, { queryId, position: 0, blocks: [block("make()", { saved })] });
  await store.endQuery(queryId, queryEnd({ answer: "made" }));
  return { branch, values };
}
