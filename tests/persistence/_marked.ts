import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Store } from "../../src/persistence/store.ts";
import {
  begun,
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
import { noise } from "./_filled.ts";

export const MARK = "zqxjkvw";
export const long = (name: string): string => `${name} ${MARK} `.repeat(300);
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, ...utf8(long("image"))]);

export async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < 3; at++) yield utf8(`${at} ${long("large")}`);
}

async function* own(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array([...crypto.getRandomValues(new Uint8Array(16)), ...utf8(long("bytes"))]);
}

async function textOf(store: Store, large: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(store.largePieces(large))).toString();
}

/** Makes a conversation with the mark in everything that it stores, short and long. With `large`, its large text has
 * the mark too. */
export async function marked(store: Store, { large = true } = {}): Promise<Awaited<ReturnType<typeof begun>>> {
  const ids = await begun(store, { text: `${MARK} ${long("request")}` });
  const { branchId, conversationId, queryId } = ids;
  const given = large ? [image("context", { bytes: new Uint8Array(), large: await store.putLarge(pieces()) })] : [];
  const marks = newIteration(queryId, 0, {
    systemPrompt: long("system"),
    userPrompt: JSON.stringify([{ role: "user", content: long("prompt") }]),
    response: long("response"),
    thinking: long("thinking"),
    metadata: { note: long("note") },
    blocks: ["1"],
    given,
  });
  const iterationId = await store.beginIteration(marks);
  const big = Buffer.concat([noise("big", 200_000), utf8(long("value"))]);
  const inPieces = Buffer.concat([noise("pieces", 1 << 20), utf8(MARK)]);
  const saved = [image("big", { bytes: new Uint8Array(big) }), image("list", { bytes: utf8(long("list").repeat(9)) })]
    .concat(image("inPieces", { bytes: new Uint8Array(inPieces) }));
  const made = block(`const note = "${MARK}"`, { saved, value: utf8(long("result")), result: { stdout: long("out") } });
  await store.endIteration(iterationId, {
    status: "done",
    blocks: [made],
    system: [{ name: "$query", text: long("system variable") }],
    forgotten: [],
    restored: [],
    error: null,
    metadata: {},
    returnedEmpty: false,
    query: { usage: USAGE, byModel: {}, costUsd: 0, iterations: 1, ms: 1 },
  } as never);
  await iterate(store, {
    queryId,
    position: 1,
    blocks: [block("2", { saved: [image("list", { bytes: utf8(`${long("list").repeat(9)}${MARK} more`) })] })],
  });
  await store.recordSubCall({
    ...{ iterationId, provider: "p", model: "m", usage: USAGE, costUsd: 0, ms: 1, error: null },
    prompt: long("call"),
    reply: long("reply"),
  });
  const place = { namespace: "test.a", branchId, queryId };
  for (const value of [MARK, long("state")]) await store.states.put(place, { key: "k", value });
  await store.states.put(place, { key: "bytes", value: large ? await store.putLarge(own(), { isOwn: true }) : "" });
  await store.endQuery(queryId, queryEnd({ answer: long("answer"), notes: [MARK] }));
  const second = await store.beginQuery(
    newQuery(branchId, MARK, { images: [{ kind: "bytes", mediaType: "image/png", bytes: PNG }] }),
  );
  await store.endQuery(second, queryEnd({ answer: MARK }));
  await store.setTitle(branchId, `about ${MARK}`);
  await store.log({ level: "info", event: "e", data: { text: long("log") }, conversationId, queryId } as never);
  return ids;
}

/** Tests that a text of a new request stays while the only conversation that had it is deleted, and is deleted with its
 * own. */
export async function givenAgain(store: Store): Promise<void> {
  const { conversationId } = await marked(store);
  const large = await store.putLarge(pieces());
  await store.deleteConversation(conversationId);
  const next = await begun(store, { text: "the same" });
  const given = [image("context", { bytes: new Uint8Array(), large })];
  await store.endIteration(
    await store.beginIteration(newIteration(next.queryId, 0, { given })),
    iterationEnd([]),
  );
  await store.endQuery(next.queryId, queryEnd());
  assert.match(await textOf(store, large), new RegExp(`^0 large ${MARK}`));
  await store.deleteConversation(next.conversationId);
}
