/** The parts of the extension that depend on the configuration; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const MAX_NAMES = 600;

const live = {
  activate: (): boolean => true,
  prompt: (env: EnvironmentView): string => {
    const names = allowed(env);
    if (names === "") return "HTTP; the user allows hosts.";
    const shown = names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names;
    return `HTTP to ${
      shown === "*" ? "any public host" : `${shown}; the user allows others`
    }. A failed request is a result: look at status.
web.get(url, {headers?, as?: "text"|"json"|"bytes", maxBytes?, timeoutMs?}): {status, url, headers, text? | json? | bytes?, truncated}
web.post(url, body, {headers?, …}): the same
web.readable(url): {status, url, title, text, links: {text, url}[], truncated}  // A page as Markdown.`;
  },
};
export default live;

function allowed({ config }: EnvironmentView): string {
  const { hosts = [], local = [] } = (config ?? {}) as Partial<Record<"hosts" | "local", readonly string[]>>;
  return [...hosts, ...local].join(", ");
}
