import { fileURLToPath } from "node:url";
import type { Outside } from "../../../extensions/web/open_connection.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";

/** The parts of a request that a server received before it answered: the head's lines and the body. */
export interface Seen {
  readonly lines: readonly string[];
  readonly body: string;
}

export interface Site {
  readonly port: number;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

type Answer = string | Uint8Array | readonly (string | Uint8Array)[] | ((conn: Deno.Conn, seen: Seen) => Promise<void>);

const tls = (name: string): string => Deno.readTextFileSync(fileURLToPath(new URL(`tls/${name}`, import.meta.url)));
const CA = tls("ca.pem");

export function site(answers: Readonly<Record<string, Answer>>, { secure = false } = {}): Site {
  const listener = secure
    ? Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert: tls("leaf.pem"), key: tls("leaf.key") })
    : Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const seen: Seen[] = [];
  const open = new Set<Promise<void>>();
  let closed = false;
  const accepting = (async () => {
    while (!closed) {
      const conn = await listener.accept().catch(() => null);
      if (!conn) continue;
      const done = serve(conn, { answers, seen }).catch(() => {}).finally(() => {
        open.delete(done);
        try {
          conn.close();
        } catch { /* The connection is already closed. */ }
      });
      open.add(done);
    }
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    seen,
    close: async () => {
      closed = true;
      listener.close();
      await Promise.all([accepting, ...open]);
    },
  };
}

async function serve(
  conn: Deno.Conn,
  { answers, seen }: { readonly answers: Readonly<Record<string, Answer>>; readonly seen: Seen[] },
): Promise<void> {
  let text = "";
  const buffer = new Uint8Array(65536);
  const whole = (): boolean => {
    const [head = "", body = ""] = text.split("\r\n\r\n");
    return text.includes("\r\n\r\n") && body.length >= Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
  };
  while (!whole()) {
    const length = await conn.read(buffer);
    if (length === null) return;
    text += new TextDecoder("latin1").decode(buffer.subarray(0, length));
  }
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const one = { lines: head.split("\r\n"), body };
  seen.push(one);
  const path = one.lines[0]?.split(" ")[1] ?? "";
  const answer = answers[path] ?? "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
  if (typeof answer === "function") return await answer(conn, one);
  for (const part of Array.isArray(answer) ? answer : [answer]) {
    const bytes = typeof part === "string" ? new TextEncoder().encode(part) : part as Uint8Array;
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  }
}

export function reply(
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Uint8Array {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const all = { "content-length": String(bytes.length), ...headers };
  const head = [`HTTP/1.1 ${status} Said`, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), "", ""];
  const start = new TextEncoder().encode(head.join("\r\n"));
  const whole = new Uint8Array(start.length + bytes.length);
  whole.set(start);
  whole.set(bytes, start.length);
  return whole;
}

/** These are addresses of the internet in the tests. */
export const PUBLIC = "93.184.216.34", OTHER = "151.101.1.69";

/** Makes an outside world. `names` has the addresses of each name, one list for each lookup. Addresses lead to ports of
 * the loopback. The world records the connections. */
export function world(
  names: Readonly<Record<string, readonly (readonly string[])[]>>,
  ports: Readonly<Record<string, number>>,
): Outside & { readonly dialled: string[]; readonly asked: string[] } {
  const dialled: string[] = [], asked: string[] = [];
  return {
    dialled,
    asked,
    caCerts: [CA],
    resolve: (host) => {
      const lists = names[host] ?? [];
      const list = lists[Math.min(asked.filter((one) => one === host).length, lists.length - 1)];
      asked.push(host);
      return list ? Promise.resolve(list) : Promise.reject(new Error("getaddrinfo ENOTFOUND"));
    },
    connect: (address, port) => {
      dialled.push(`${address}:${port}`);
      const there = ports[`${address}:${port}`];
      if (there === undefined) return Promise.reject(new Deno.errors.ConnectionRefused("refused"));
      return Deno.connect({ hostname: "127.0.0.1", port: there });
    },
  };
}

export function view(
  { hosts = [], local = [], signal }: {
    readonly hosts?: readonly string[];
    readonly local?: readonly string[];
    readonly signal?: AbortSignal;
  },
): EnvironmentView {
  const own = signal ? { signal } : {};
  return {
    envId: "e",
    conversationId: "c",
    branchId: "b",
    depth: 0,
    workspace: "/w",
    home: "/h",
    config: { hosts, local },
    ...own,
  };
}
