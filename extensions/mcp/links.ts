import type { EnvironmentView } from "@vis/extension";
import { ServerError } from "./server_error.ts";
import { ServerLink } from "./server_link.ts";
import { enabledServers, type ServerConfig } from "./server_config.ts";

/** Servers of all live conversations. */
export class Links {
  readonly #conversations = new Map<string, Map<string, ServerLink>>();

  /** The conversation's server of this name; throws Error that lists the existing ones. */
  find(env: EnvironmentView, name: string): ServerLink {
    const servers = enabledServers(env.config);
    const config = servers.get(name);
    if (config) return this.#of(env, { name, config });
    throw new ServerError(name, `there are ${[...servers.keys()].join(", ") || "none"}`);
  }

  /** The running server; null if it was not used yet. */
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
    const link = links.get(name) ?? new ServerLink(name, config);
    links.set(name, link);
    return link;
  }

  async #close(envId: string): Promise<void> {
    const links = [...this.#conversations.get(envId)?.values() ?? []];
    this.#conversations.delete(envId);
    await Promise.allSettled(links.map((link) => link.close()));
  }
}
