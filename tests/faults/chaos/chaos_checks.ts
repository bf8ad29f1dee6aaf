import { isDeepStrictEqual } from "node:util";
import type { StoredQuery } from "../../../src/domain/query/stored_query.ts";
import type { Store } from "../../../src/persistence/store.ts";
import type { Invariants } from "./invariants.ts";
import type { Talk } from "./talk.ts";

/** Each query counts the rows that it checked, and lists the wrong ones. */
const ROWS = [
  {
    what: "no request, query or lease remains",
    count: "SELECT count(*) FROM query_state",
    wrong: `SELECT 'request ' || query_id FROM job UNION ALL SELECT 'lease of ' || conversation_state_id FROM lease
      UNION ALL SELECT 'query ' || id FROM query_state WHERE status = 'running'`,
  },
  {
    what: "only one node writes in an epoch",
    count: "SELECT count(*) FROM audit",
    wrong: "SELECT query_id, epoch FROM audit GROUP BY 1, 2 HAVING count(DISTINCT writer) > 1",
  },
  {
    what: "no node writes in an epoch after a later epoch has begun",
    count: "SELECT count(*) FROM audit",
    wrong: `SELECT query_id, number FROM (
        SELECT *, max(epoch) OVER (PARTITION BY query_id ORDER BY number) AS newest FROM audit
      ) written WHERE epoch < newest`,
  },
] as const;

export async function checkRows(invariants: Invariants, sql: (text: string) => Promise<string>): Promise<void> {
  for (const { what, count, wrong } of ROWS) {
    const violations = (await sql(wrong)).split("\n").filter((line) => line !== "");
    invariants.list(what, { checked: Number(await sql(count)), violations });
  }
}

/** Checks that the stored rows are the answers that the client received, once and in order. */
export async function checkTalk(invariants: Invariants, talk: Talk, store: Store): Promise<void> {
  const { conversationId, said, fork } = talk;
  const check = (what: string, found: unknown, expected: unknown): void =>
    invariants.holds(
      what,
      isDeepStrictEqual(found, expected),
      () => `${conversationId}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`,
    );
  const { branchId = "" } = await store.query(said[0]?.queryId ?? "") ?? {};
  const all = await store.queries(branchId);
  const queries = all.filter(({ text }) => text.startsWith("add "));
  const texts = queries.map(({ text }) => text);
  check("a conversation has its requests, each once and in order", texts, said.map(({ request }) => request));
  for (const [at, { queryId, status, reason, answer }] of said.entries()) {
    const query = queries[at];
    check("a client receives the stored status and answer", [query?.queryId, query?.status, query?.answer], [
      queryId,
      status,
      answer,
    ]);
    const end = status === "done" || reason === "cancelled" ? "that" : `${reason}: ${answer}`;
    check("a request ends with an answer or a cancellation", end, "that");
    if (status === "done") check("an answer has the effects of its requests, once and in order", ...effects(talk, at));
  }
  const versions = await store.variableVersions(branchId, "list", { newest: 1_000 });
  const words = versions.map(({ image }) => image.summary.shape.replace(/\D+(\d+).*/, "$1"));
  check("the database has every version of a variable", words, words.map((_, at) => String(at + 1)));
  const last = said.findLast(({ status }) => status === "done")?.answer ?? "";
  check("no version of a variable is older than an answer", Number(words.at(-1) ?? 0) >= wordsOf(last).length, true);
  if (fork) check("a fork continues from its point", fork.answer, `${said[fork.after]?.answer}+fork`);
  checkMessages(talk, all, check);
}

type Check = (what: string, found: unknown, expected: unknown) => void;

function checkMessages({ heard, lost }: Talk, queries: readonly StoredQuery[], check: Check): void {
  const texts = queries.flatMap(({ steered }) => steered.map(({ text }) => text));
  const count = (message: string): number => texts.filter((text) => text === message).length;
  for (const message of heard) check("the model sees each accepted message once", count(message), 1);
  for (const message of lost) {
    check("the model sees a message with an unknown outcome at most once", count(message) <= 1, true);
  }
}

/** Returns the words of an answer, and the words that it must have, from all answered requests so far. A cancelled
 * request may have added its word. */
function effects({ said }: Talk, at: number): [readonly string[], readonly string[]] {
  const words = wordsOf(said[at]?.answer ?? "");
  const before = said.slice(0, at + 1).map(({ request, status }) => ({ word: request.slice(4), status }));
  return [
    words,
    before.filter(({ word, status }) => status === "done" || words.includes(word)).map(({ word }) => word),
  ];
}

function wordsOf(answer: string): readonly string[] {
  return answer.split("+").filter((word) => word !== "");
}
