import { join } from "node:path";
import type { Postgres } from "../../helpers/postgres.ts";

const SOCKET = ".s.PGSQL.5432";

/** A socket that leads to a server, whose connections can be cut. */
export interface Relay extends AsyncDisposable {
  url(direct: string): string;
  mute(): void;
  /** Drops all later answers on the present connections. New connections work. */
  hush(): void;
  /** Ends all connections. The server notices it when it answers. With `refuse`, later connections end at once. */
  cut(options?: { readonly refuse?: boolean }): void;
  open(): void;
}

export async function relay({ folder }: Postgres): Promise<Relay> {
  const own = await Deno.makeTempDir({ prefix: "vis-relay-" });
  const listener = Deno.listen({ transport: "unix", path: join(own, SOCKET) });
  const clients = new Set<Deno.Conn>();
  const servers = new Set<Deno.Conn>();
  const quiet = new WeakSet<Deno.Conn>();
  const state = { muted: false, refused: false };
  const serve = async (client: Deno.Conn): Promise<void> => {
    if (state.refused) return client.close();
    const server = await Deno.connect({ transport: "unix", path: join(folder, SOCKET) });
    clients.add(client);
    servers.add(server);
    const answers = (async () => {
      for await (const bytes of server.readable) {
        if (!state.muted && !quiet.has(client) && clients.has(client)) await written(client, bytes);
      }
    })().catch(() => {});
    for await (const bytes of client.readable) await written(server, bytes);
    void answers;
    // The client has closed it.
    servers.delete(server);
    closed(server);
  };
  const serving = (async () => {
    for await (const client of listener) void serve(client).catch(() => {});
  })();
  const cut: Relay["cut"] = ({ refuse = false } = {}) => {
    Object.assign(state, { muted: false, refused: refuse });
    for (const client of clients) closed(client);
    clients.clear();
  };
  return {
    url: (direct) => direct.replace(encodeURIComponent(folder), encodeURIComponent(own)),
    mute: () => {
      state.muted = true;
    },
    hush: () => {
      for (const client of clients) quiet.add(client);
    },
    cut,
    open: () => {
      state.refused = false;
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      for (const server of servers) closed(server);
      listener.close();
      await serving;
      await Deno.remove(own, { recursive: true });
    },
  };
}

async function written(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

function closed(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The connection has ended.
  }
}
