import type { SeenQuery, View } from "./expected.ts";
import type { Service } from "./service.ts";
import { Stop } from "./trial.ts";
import { shortened, type World } from "./world.ts";

export async function viewOf(branch: string, { world, service }: {
  readonly world: World;
  readonly service?: Service | undefined;
}): Promise<View> {
  return service ? await served(branch, service) : await printed(branch, world);
}

async function served(branch: string, service: Service): Promise<View> {
  const value = async (name: string): Promise<string | undefined> => {
    const response = await service.call(`conversations/${branch}/variables/${name}?newest=1`);
    const body = await response.json();
    if (response.status === 404) return undefined;
    if (!response.ok) {
      unreadable(service, `${service.name} shows ${name} as ${response.status} ${JSON.stringify(body)}`);
    }
    return body.items[0].value;
  };
  const log = await value("log");
  const values = { log: log && JSON.parse(log), last: await value("last"), size: await value("size") };
  const { items } = await service.read(`conversations/${branch}/queries`);
  return { ...heads(values), queries: items };
}

async function printed(branch: string, world: World): Promise<View> {
  const { code, stdout, stderr } = await world.run(["vars", "log", "last", "size", "--json", "--conversation", branch]);
  const none = code !== 0 && /variable/i.test(stderr + stdout);
  if (code !== 0 && !none) unreadable({ world }, `vis vars ended with ${code}: ${shortened(stderr + stdout)}`);
  const found: { readonly name: string; readonly value: unknown }[] = none ? [] : JSON.parse(stdout);
  const shown = await world.run(["conversations", "show", branch, "--json"]);
  if (shown.code !== 0) unreadable({ world }, `vis conversations show ended with ${shown.code}: ${shown.stderr}`);
  type Printed = Omit<SeenQuery, "iterations"> & { readonly iterations: readonly { readonly status: string }[] };
  const queries: Printed[] = JSON.parse(shown.stdout).queries;
  const ended = (one: { readonly status: string }): boolean => one.status === "done" || one.status === "error";
  return {
    ...heads(Object.fromEntries(found.map(({ name, value }) => [name, value]))),
    queries: queries.map((query) => ({ ...query, iterations: query.iterations.filter(ended).length })),
  };
}

function heads({ log = [], last = null, size = 0 }: Readonly<Record<string, unknown>>): Omit<View, "queries"> {
  return { log: log as string[], last: last as string | null, size: Number(size) };
}

function unreadable({ world }: { readonly world: World }, what: string): never {
  world.trial.found("unclear", what);
  throw new Stop(what);
}
