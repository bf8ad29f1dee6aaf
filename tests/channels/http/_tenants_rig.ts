import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TokenGrant } from "../../../src/channels/http/tokens.ts";
import type { HistoryReader } from "../../../src/domain/records/history.ts";
import { type EnvironmentView, type Extension, fn, type OwnStore, z } from "../../../src/extension/mod.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { ASKING } from "../../helpers/asking_extension.ts";
import type { ScriptedReply } from "../../helpers/scripted_provider.ts";
import { NO_QUOTA, type Rig, startRig } from "./_rig.ts";

type Person = "ana" | "ben" | "root";

export interface Named {
  readonly id: string;
  readonly queryId: string;
  readonly approvalId: string;
}

export interface TenantsRig extends AsyncDisposable {
  readonly rig: Rig;
  as(person: Person): Pick<Rig, "ask" | "post">;
  says(...replies: readonly ScriptedReply[]): void;
  aim(named: Named): void;
  readonly seen: Map<string, unknown>;
}

const GRANTS: Readonly<Record<Person, Pick<TokenGrant, "tenant" | "scope" | "all">>> = {
  ana: { tenant: "ana-team", scope: "write", all: false },
  ben: { tenant: "default", scope: "write", all: false },
  root: { tenant: "default", scope: "admin", all: true },
};

const tokenOf = (person: Person): string => `${person}-token-0123456789`;

/** Starts a server whose tokens have several tenants, on the database at a path. */
export async function startTenants(path: string): Promise<TenantsRig> {
  const grants = (Object.keys(GRANTS) as Person[]).map((name) => {
    const digest = createHash("sha256").update(tokenOf(name)).digest();
    return { name, digest, expiresAt: null, quota: NO_QUOTA, ...GRANTS[name] };
  });
  const seen = new Map<string, unknown>();
  const aimed: { at: Named | null } = { at: null };
  const spy = spyOf(() => aimed.at, seen);
  const store = await openStore({ path });
  const rig = await startRig([], {
    tokens: { grants: () => Promise.resolve(grants) },
    undo: ({ tenant }) => Promise.resolve({ changes: [], files: [{ path: `${tenant}.txt`, diff: "" }] }),
    engine: { store, extensions: [ASKING, spy] },
  });
  const as = (person: Person): Pick<Rig, "ask" | "post"> => {
    const authorization = `Bearer ${tokenOf(person)}`;
    return {
      ask: (path, init = {}) => rig.ask(path, { ...init, headers: { authorization, ...init.headers as object } }),
      post: (path, body, headers = {}) => rig.post(path, body, { authorization, ...headers }),
    };
  };
  return {
    rig,
    as,
    seen,
    says: (...replies) => rig.engine.provider.push(...replies),
    aim: (named) => void (aimed.at = named),
    [Symbol.asyncDispose]: () => rig.close(),
  };
}

type Look = (env: EnvironmentView, named: Named) => Promise<unknown>;

const READER: { readonly [K in keyof HistoryReader]: (db: HistoryReader, named: Named) => Promise<unknown> } = {
  search: async (db, { id: conversationId }) => [
    await db.search("marmalade", { limit: 9 }),
    await db.search("marmalade", { limit: 9, conversationId }),
  ],
  conversations: (db) => db.conversations({ limit: 99 }),
  queries: (db, { id }) => db.queries(id),
  iterations: (db, { queryId }) => db.iterations(queryId),
  sent: (db, { queryId }) => db.sent(queryId, 1),
  variables: (db, { id }) => db.variables(id),
  versions: (db, { id }) => db.versions(id, "vault"),
  dependencies: (db, { id }) => db.dependencies(id),
  logs: async (db, { id: conversationId }) => [
    await db.logs({ limit: 999 }),
    await db.logs({ limit: 999, conversationId }),
  ],
  variable: (db, { id }) => db.variable(id, { name: "vault" }),
};

const STORE: { readonly [K in keyof OwnStore]: (store: OwnStore, named: Named) => Promise<unknown> } = {
  put: (store) => store.put("own", 1, { scope: "global" }),
  get: async (store) => [
    await store.get("vault"),
    await store.get("vault", { scope: "global" }),
    await store.get("vault", { scope: "workspace" }),
  ],
  history: (store) => store.history("vault", { scope: "global" }),
  list: async (store) => [await store.list(), await store.list({ scope: "workspace" })],
  query: async (store, { id: conversationId }) => [
    await store.query(),
    await store.query({ conversationId }),
    await store.query({ scope: "workspace" }),
  ],
  delete: (store) => store.delete("vault", { scope: "global" }),
  putBytes: (store) => store.putBytes(new Uint8Array([1])),
  bytes: (store) => Array.fromAsync(store.bytes(`sha256:${"0".repeat(64)}`)),
  dropBytes: (store) => store.dropBytes(`sha256:${"0".repeat(64)}`),
};

function spyOf(aimed: () => Named | null, seen: Map<string, unknown>): Extension {
  const looks: readonly (readonly [string, Look])[] = [
    ...Object.entries(READER).map(([name, look]) =>
      [`db.${name}`, ({ db }: EnvironmentView, named: Named) => look(needed(db), named)] as const
    ),
    ...Object.entries(STORE).map(([name, look]) =>
      [`store.${name}`, ({ store }: EnvironmentView, named: Named) => look(needed(store), named)] as const
    ),
  ];
  return {
    namespace: "test.spy",
    alias: { ns: "test.ext.spy", alias: "spy" },
    doc: "Looks.",
    version: "0.1.0",
    symbols: [
      fn("look", async (env: EnvironmentView) => {
        const named = needed(aimed());
        for (const [name, look] of looks) {
          seen.set(name, await look(env, named).catch((error: unknown) => String(error)));
        }
        return looks.length;
      }, { doc: "Looks.", args: z.tuple([]), returns: "number" }),
      fn("keep", async ({ store }: EnvironmentView) => {
        for (const scope of ["conversation", "workspace", "global"] as const) {
          await store?.put("vault", "marmalade", { scope });
        }
      }, { doc: "Keeps.", args: z.tuple([]), returns: "undefined" }),
    ],
  };
}

function needed<T>(value: T | null | undefined): T {
  assert.ok(value !== null && value !== undefined);
  return value;
}
