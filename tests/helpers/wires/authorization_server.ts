import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { createHash } from "node:crypto";
import { z } from "zod";

export interface Guarded extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly asked: string[];
  readonly clients: Map<string, Readonly<Record<string, unknown>>>;
  readonly valid: { access: string; refresh: string };
  readonly given: string[];
  readonly metadata: Record<string, unknown>;
  denies: boolean;
  agree(address: string): Promise<URL>;
}

const json = (value: unknown, status = 200): Response => Response.json(value, { status });

export function guarded(): Guarded {
  const codes = new Map<string, { readonly client: string; readonly challenge: string; readonly redirect: string }>();
  const state = {
    url: "",
    origin: "",
    asked: [] as string[],
    clients: new Map<string, Readonly<Record<string, unknown>>>(),
    valid: { access: "", refresh: "" },
    given: [] as string[],
    metadata: {} as Record<string, unknown>,
    denies: false,
  };
  const fresh = (kind: string): string => {
    const token = `${kind}-${crypto.randomUUID()}`;
    state.given.push(token);
    return token;
  };
  const tokens = (): Response => {
    state.valid = { access: fresh("access"), refresh: fresh("refresh") };
    const { access, refresh } = state.valid;
    return json({ access_token: access, token_type: "Bearer", expires_in: 60, refresh_token: refresh });
  };
  const exchanged = (form: URLSearchParams): Response => {
    if (form.get("grant_type") === "refresh_token") {
      const refresh = form.get("refresh_token");
      if (refresh === state.valid.refresh) return tokens();
      return json({ error: "invalid_grant", error_description: `no ${refresh}` }, 400);
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    const isRight = code?.challenge === challenge && code.client === form.get("client_id") &&
      code.redirect === form.get("redirect_uri") && form.get("resource") === state.url;
    return isRight ? tokens() : json({ error: "invalid_grant", error_description: `no ${form}` }, 400);
  };
  const authorized = (query: URLSearchParams): Response => {
    const redirect = query.get("redirect_uri") ?? "", client = query.get("client_id") ?? "";
    const challenge = query.get("code_challenge") ?? "";
    const known = state.clients.get(client)?.redirect_uris;
    if (!Array.isArray(known) || !known.includes(redirect) || query.get("code_challenge_method") !== "S256") {
      return new Response("no such client", { status: 400 });
    }
    const target = new URL(redirect);
    target.searchParams.set("state", query.get("state") ?? "");
    target.searchParams.set("iss", state.origin);
    if (state.denies) target.searchParams.set("error", "access_denied");
    else {
      const code = fresh("code");
      codes.set(code, { client, challenge, redirect });
      target.searchParams.set("code", code);
    }
    return Response.redirect(target, 302);
  };
  const authorization = listen(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    state.asked.push(pathname);
    if (pathname === "/.well-known/oauth-authorization-server") {
      return json({
        issuer: state.origin,
        authorization_endpoint: `${state.origin}/authorize`,
        token_endpoint: `${state.origin}/token`,
        registration_endpoint: `${state.origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
        ...state.metadata,
      });
    }
    if (pathname === "/register") {
      const client = { ...await request.json(), client_id: crypto.randomUUID() };
      state.clients.set(client.client_id, client);
      return json(client, 201);
    }
    if (pathname === "/authorize") return authorized(searchParams);
    if (pathname === "/token") return exchanged(new URLSearchParams(await request.text()));
    return new Response(null, { status: 404 });
  });
  const resource = listen(async (request) => {
    if (new URL(request.url).pathname === "/meta") {
      return json({ resource: state.url, authorization_servers: [state.origin] });
    }
    const access = request.headers.get("authorization") ?? "";
    if (state.valid.access === "" || access !== `Bearer ${state.valid.access}`) {
      const challenge = `Bearer resource_metadata="${new URL("/meta", state.url)}"`;
      return new Response(`no ${access}`, { status: 401, headers: { "www-authenticate": challenge } });
    }
    return await answered(request);
  });
  state.origin = authorization.origin;
  state.url = `${resource.origin}/mcp`;
  return Object.assign(state, {
    agree: async (address: string) => {
      const answer = await fetch(address, { redirect: "manual" });
      await answer.body?.cancel();
      return new URL(answer.headers.get("location") ?? "about:blank");
    },
    [Symbol.asyncDispose]: async () => void await Promise.all([authorization.close(), resource.close()]),
  });
}

async function answered(request: Request): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = new McpServer({ name: "t", version: "1.0.0" });
  server.registerTool("twice", { description: "Doubles.", inputSchema: z.object({ n: z.number() }) }, ({ n }) => (
    { content: [{ type: "text", text: `${2 * n}` }] }
  ));
  await server.connect(transport);
  return await transport.handleRequest(request);
}

function listen(handle: (request: Request) => Promise<Response>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handle);
  return { origin: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}
