/** The parts of the extension that depend on the configuration; loads nothing. */
import type { EnvironmentView } from "@vis/extension";

const MAX_NAMES = 600;
const OFF = "No host is allowed; the user allows some: vis config set web.hosts example.org";

const live = {
  activate: (): boolean => true,
  /** Until the user allows something: how to. */
  prompt: ({ config }: EnvironmentView): string => {
    const { hosts = [], local = [] } = (config ?? {}) as Partial<Record<"hosts" | "local", readonly string[]>>;
    const names = [...hosts, ...local].join(", ");
    if (names === "") return OFF;
    const shown = names.length > MAX_NAMES ? `${names.slice(0, MAX_NAMES)}…` : names;
    return `HTTP to ${shown === "*" ? "any public host" : shown} only. A failed request is a result: look at status.
web.get(url, {headers?, as?: "text"|"json"|"bytes", maxBytes?, timeoutMs?}): {status, url, headers, text? | json? | bytes?, truncated}
web.post(url, body, {headers?, …}): the same
web.readable(url): {status, url, title, text, links: {text, url}[], truncated}  // A page as Markdown.`;
  },
};
export default live;
