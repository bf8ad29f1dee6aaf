import type { Random } from "../world/random.ts";
import type { ChaosCluster } from "./chaos_cluster.ts";

/** After this time, a client gives up on a node and asks another one. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 300;

interface Said {
  readonly request: string;
  readonly status: string;
  readonly reason: string;
  readonly answer: string;
  readonly queryId: string;
}

export interface Talk {
  readonly conversationId: string;
  readonly said: Said[];
  fork: { readonly after: number; readonly answer: string } | null;
  readonly heard: string[];
  /** The client does not know whether a query received these messages. */
  readonly lost: string[];
  cancels: number;
  repeated: number;
}

interface Place {
  readonly cluster: ChaosCluster;
  readonly random: Random;
  readonly path: string;
  readonly talk: Talk;
}

/** Plays one client's conversation. The client repeats each interrupted request until it has an answer. */
export async function talk(cluster: ChaosCluster, random: Random, requests: number): Promise<Talk> {
  const title = { title: "chaos" };
  const { conversationId } = await until(async () =>
    await (await cluster.ask(random, "/api/v1/conversations", { body: title })).json()
  );
  const talk: Talk = { conversationId, said: [], fork: null, heard: [], lost: [], cancels: 0, repeated: 0 };
  const place = { cluster, random, path: `/api/v1/conversations/${conversationId}`, talk };
  for (let n = 1; n <= requests; n++) {
    const request = `add ${n}`;
    const asked = send(place, { request, key: `${conversationId} ${n}` });
    const more = random.below(10);
    const aside = more === 0 ? cancel(place) : more === 1 ? steer(place, `note ${n}`) : null;
    const { status, reason, answer, queryId } = await asked;
    talk.said.push({ request, status, reason, answer, queryId });
    await aside;
  }
  const after = random.below(requests);
  const { queryId = "", status } = talk.said[after] ?? {};
  if (status === "done") talk.fork = { after, answer: await forked(place, queryId) };
  return talk;
}

async function cancel({ cluster, random, path, talk }: Place): Promise<void> {
  await pause(random.below(250));
  const asked = cluster.ask(random, `${path}/cancel`, { body: {} }).then((response) => response.json());
  const { cancelled = 0 } = await asked.catch(() => ({}));
  if (cancelled > 0) talk.cancels++;
}

/** A message that no query received is not sent again. */
async function steer({ cluster, random, path, talk }: Place, request: string): Promise<void> {
  await pause(random.below(250));
  try {
    const response = await cluster.ask(random, `${path}/messages`, { body: { request, whenBusy: "steer" } });
    await response.body?.cancel();
    if (response.status === 202) talk.heard.push(request);
  } catch {
    talk.lost.push(request);
  }
}

async function forked({ path, ...place }: Place, queryId: string): Promise<string> {
  const { cluster, random } = place;
  const { branchId } = await until(async () =>
    await (await cluster.ask(random, `${path}/fork`, { body: { queryId } })).json()
  );
  const fork = { ...place, path: `/api/v1/conversations/${branchId}` };
  return (await send(fork, { request: "add fork", key: `fork ${branchId}` })).answer;
}

async function send(
  { cluster, random, path, talk }: Place,
  { request, key }: { readonly request: string; readonly key: string },
): Promise<Said> {
  const headers = { "idempotency-key": key };
  const again = (): void => void talk.repeated++;
  return await until(async () => {
    const response = await cluster.ask(random, `${path}/messages`, { body: { request, whenBusy: "wait" }, headers });
    const result = await response.json();
    if (typeof result.answer !== "string") throw new Error(`${response.status} ${JSON.stringify(result)}`);
    return result;
  }, again);
}

async function until<T>(work: () => Promise<T>, again: () => void = () => {}): Promise<T> {
  for (;;) {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error("late")), PATIENCE_MS);
    try {
      const found = await Promise.race([work(), late.promise]);
      if (found && typeof found === "object" && "status" in found && typeof found.status === "number") {
        throw new Error(JSON.stringify(found));
      }
      return found;
    } catch {
      again();
      await pause(PAUSE_MS);
    } finally {
      clearTimeout(timer);
    }
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
