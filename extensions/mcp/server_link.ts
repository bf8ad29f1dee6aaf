import { connect, type McpConnection } from "./connect.ts";
import { isSigned, LoginError, ServerLogin } from "./login/stored_logins.ts";
import { askForServers, FILE, mayBringServers, repositoryServers } from "./repository_servers.ts";
import { checkVariables, enabledServers, redacted, secretsOf, type ServerConfig, ServerError } from "./settings.ts";
import { type ListedTools, listTools, type McpTool } from "./tools.ts";
import { abortable, advised, type EnvironmentView, reasonOf } from "@vis/extension";

export class Links {
  readonly #conversations = new Map<string, Map<string, ServerLink>>();

  async find(env: EnvironmentView, name: string): Promise<ServerLink> {
    const own = enabledServers(env.config);
    const config = own.get(name);
    if (config) return this.#of(env, { name, config });
    const found = mayBringServers(env) ? await repositoryServers(env) : null;
    const brought = found?.servers.get(name);
    if (!found || !brought) {
      const why = found?.faults.get(name), whole = found?.faults.get("");
      if (why !== undefined) throw new ServerError(name, `${FILE} describes it, but ${why}`);
      if (whole !== undefined) throw new ServerError(name, `the settings lack it, and ${FILE} is unusable (${whole})`);
      const known = [...own.keys(), ...found?.servers.keys() ?? []].join(", ");
      if (known === "") throw new ServerError(name, "no MCP server is set up; the user can add one with vis mcp add");
      throw advised(new ServerError(name, "no MCP server has this name"), `choose one of ${known}`);
    }
    await askForServers(env, { server: name, found });
    return this.#of(env, { name, config: brought });
  }

  known(env: EnvironmentView, name: string): ServerLink | null {
    return this.#conversations.get(env.envId)?.get(name) ?? null;
  }

  #of(env: EnvironmentView, { name, config }: { readonly name: string; readonly config: ServerConfig }): ServerLink {
    let links = this.#conversations.get(env.envId);
    if (!links) {
      links = new Map();
      this.#conversations.set(env.envId, links);
      env.closed?.addEventListener("abort", () => void this.#close(env.envId), { once: true });
    }
    const known = links.get(name);
    if (known && JSON.stringify(known.config) === JSON.stringify(config)) return known;
    void known?.close();
    const link = new ServerLink(name, config);
    links.set(name, link);
    return link;
  }

  async #close(envId: string): Promise<void> {
    const links = [...this.#conversations.get(envId)?.values() ?? []];
    this.#conversations.delete(envId);
    await Promise.allSettled(links.map((link) => link.close()));
  }
}

const REST_MS = 60_000, MOST_FAILURES = 2;

export class ServerLink {
  readonly name: string;
  readonly config: ServerConfig;
  #login: ServerLogin | null = null;
  #connecting: Promise<McpConnection> | null = null;
  #connection: McpConnection | null = null;
  #tools: Promise<ListedTools> | null = null;
  #failures = 0;
  #restUntil = 0;
  #why = "";
  readonly #closed = new AbortController();

  constructor(name: string, config: ServerConfig) {
    this.name = name;
    this.config = config;
  }

  get state(): "running" | "starting" | "stopped" {
    if (this.#connection) return "running";
    return this.#connecting ? "starting" : "stopped";
  }

  async tools(env: EnvironmentView): Promise<readonly McpTool[]> {
    return (await this.listed(env)).tools;
  }

  async listed(env: EnvironmentView): Promise<ListedTools> {
    await this.#ready(env);
    this.#tools ??= this.request(env, ({ client }) => listTools(client, { timeout: this.config.startMs })).catch(
      (error: unknown) => {
        this.#tools = null;
        throw error;
      },
    );
    return await this.#tools;
  }

  /** Rejects with the signal's reason, or with Error that names the server and hides its known secrets. If the session has
   * ended, Vis sends the request once more in a new session. */
  async request<T>(
    env: EnvironmentView,
    run: (
      connection: McpConnection,
      options: { readonly signal?: AbortSignal; readonly timeout: number },
    ) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#ready(env);
    const { signal } = env;
    const options = { timeout: this.config.timeoutMs, ...(signal ? { signal } : {}) };
    const first = run(connection, options);
    connection.running.add(first);
    const answer = first.finally(() => connection.running.delete(first)).catch(async (error) => {
      if (!connection.hasLost(error)) throw error;
      this.#drop(connection);
      return await run(await this.#ready(env), options);
    });
    return await this.#answered(answer, { env, connection });
  }

  #drop(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    this.#tools = null;
    // Closing would fail the running requests, so Vis waits for their ends.
    void Promise.allSettled(connection.running).then(() => connection.close());
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const connection = this.#connection ?? await this.#connecting?.catch(() => null);
    await connection?.close();
  }

  async #answered<T>(
    answer: Promise<T>,
    { env, connection }: { readonly env: EnvironmentView; readonly connection: McpConnection },
  ): Promise<T> {
    try {
      const result = await answer;
      this.#failures = 0;
      return result;
    } catch (error) {
      env.signal?.throwIfAborted();
      throw this.#error(error, connection.why);
    }
  }

  async #ready(env: EnvironmentView): Promise<McpConnection> {
    if (this.#closed.signal.aborted) throw new ServerError(this.name, "the conversation was closed");
    if (this.#connection) return this.#connection;
    if (this.#restUntil > Date.now()) {
      const seconds = Math.ceil((this.#restUntil - Date.now()) / 1000);
      const last = this.#why === "" ? "" : ` (${this.#why})`;
      throw new ServerError(
        this.name,
        `it failed twice, and Vis tries it again in ${seconds} s at the earliest${last}`,
      );
    }
    return await abortable(this.#connecting ??= this.#start(env), env.signal);
  }

  async #start(env: EnvironmentView): Promise<McpConnection> {
    try {
      return await this.#tried(env);
    } catch (error) {
      if (error instanceof ServerError) env.warn?.(`Vis could not use MCP server ${this.name}: ${error.why}`);
      throw error;
    } finally {
      this.#connecting = null;
    }
  }

  async #tried(env: EnvironmentView): Promise<McpConnection> {
    checkVariables(this.name, this.config);
    for (;;) {
      try {
        return this.#connected(await this.#open(env));
      } catch (error) {
        if (error instanceof LoginError) throw this.#error(error, "");
        this.#failed();
        this.#why = this.#error(error, "").why;
        if (this.#restUntil > Date.now() || this.#closed.signal.aborted || env.closed?.aborted) {
          throw this.#error(error, "");
        }
      }
    }
  }

  async #open(env: EnvironmentView): Promise<McpConnection> {
    const { name, config } = this;
    if ("url" in config && !isSigned(config.headers)) {
      this.#login ??= new ServerLogin(env.home ?? null, { name, url: config.url });
    }
    let opened: McpConnection | null = null;
    return opened = await connect(env, {
      name,
      config,
      login: this.#login,
      signal: this.#closed.signal,
      onToolsChanged: () => this.#tools = null,
      onEnd: () => this.#ended(opened),
      onStderr: (text) => env.log?.(`${this.name}: ${redacted(text.trimEnd(), this.#secrets())}`),
    });
  }

  #connected(connection: McpConnection): McpConnection {
    this.#connection = connection;
    this.#tools = null;
    this.#why = "";
    return connection;
  }

  #ended(connection: McpConnection | null): void {
    if (!connection || this.#connection !== connection) return;
    this.#connection = null;
    this.#tools = null;
    this.#failed();
  }

  #failed(): void {
    if (++this.#failures < MOST_FAILURES) return;
    this.#failures = 0;
    this.#restUntil = Date.now() + REST_MS;
  }

  #secrets(): readonly string[] {
    return [...this.#login?.secrets ?? [], ...secretsOf(this.config)];
  }

  #error(error: unknown, why: string): ServerError {
    if (error instanceof ServerError) return error;
    const cause = error instanceof TypeError && error.cause instanceof Error ? error.cause.message : "";
    const said = reasonOf(error), parts = [why.startsWith(said) ? "" : said, cause, why];
    const text = parts.filter((one) => one !== "").join(", ");
    const wants = error instanceof LoginError ? "login" : null;
    return new ServerError(this.name, redacted(text.slice(0, 2_000), this.#secrets()), wants);
  }
}
