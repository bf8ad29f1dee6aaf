import type { OpenRequest } from "../channels/channel.ts";
import { Credentials } from "../providers/credentials.ts";
import type { Settings } from "./settings.ts";

const NAMESPACE = "vis.mcp";
/** `${GITHUB_TOKEN}` of the environment, `${auth:github}` of the file that `vis auth login` writes. */
const REFERENCE = /\$\{(auth:)?([\w.-]+)\}/g;

/** Adds servers that a caller names (what the user wrote under the same name wins), then puts secrets into headers and
 * variables, which the configuration only names. What is not there stays as it is: the extension says so when the server
 * is used. */
export async function mcpSettings<S extends Pick<Settings, "config" | "home" | "variable">>(
  settings: S,
  servers: OpenRequest["mcpServers"] = {},
): Promise<S> {
  const { extensions } = settings.config;
  const own = extensions.config[NAMESPACE];
  const section = Object.keys(servers).length === 0
    ? own
    : { ...fields(own), servers: { ...servers, ...fields(fields(own)["servers"]) } };
  if (section === own && !JSON.stringify(section ?? "").includes("${")) return settings;
  const keys = await keysOf(settings.home, JSON.stringify(section).includes("${auth:"));
  const fill = (text: string): string =>
    text.replace(REFERENCE, (whole, auth, name) => (auth ? keys[name] : settings.variable(name)) ?? whole);
  const config = { ...extensions.config, [NAMESPACE]: filled(section, fill) };
  return { ...settings, config: { ...settings.config, extensions: { ...extensions, config } } };
}

async function keysOf(home: string | null, wanted: boolean): Promise<Readonly<Record<string, string>>> {
  if (!wanted || home === null) return {};
  const all = await new Credentials(`${home}/auth.json`).all();
  return Object.fromEntries(
    Object.entries(all).map(([name, found]) => [name, found.type === "key" ? found.key : found.githubToken]),
  );
}

/** Only values of headers and variables: an address or a command is what it looks like. */
function filled(section: unknown, fill: (text: string) => string): unknown {
  const servers = fields(fields(section)["servers"]);
  const done = Object.entries(servers).map(([name, server]) => {
    const own = Object.entries(fields(server)).map(([key, value]) => {
      if (key !== "headers" && key !== "env") return [key, value];
      const values = Object.entries(fields(value)).map((
        [at, text],
      ) => [at, typeof text === "string" ? fill(text) : text]);
      return [key, Object.fromEntries(values)];
    });
    return [name, typeof server === "object" ? Object.fromEntries(own) : server];
  });
  return { ...fields(section), servers: Object.fromEntries(done) };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
