import type { Running } from "../../e2e/helpers/user.ts";
import { type Said, saidByRun, shownAs } from "./said.ts";
import type { Service } from "./service.ts";
import { requestOf } from "./token_model.ts";
import { signal, type World } from "./world.ts";

export interface Actor {
  readonly name: string;
  readonly service: Service | null;
  /** Repeats the request under the same key, with a client of any server; null if a client cannot. */
  readonly again: ((service: Service) => Actor) | null;
  ask(branch: string, turn: { readonly token: string; readonly parts: number; readonly leave?: AbortSignal }): Ongoing;
}

export interface Ongoing {
  readonly said: Promise<Said>;
  readonly running: Running;
  cancel(): Promise<void>;
}

/** Runs "$@" where it sees no other process, under the same name of the host. */
const NAMESPACE = 'exec unshare --pid --fork --kill-child --mount-proc "$@"';

export function command(world: World, { apart = false, newest = false, signals }: {
  readonly apart?: boolean;
  /** Whether -c selects the branch, which must be the only one. */
  readonly newest?: boolean;
  readonly signals: "SIGINT" | "SIGTERM";
}): Actor {
  const name = `run${newest ? " -c" : ""}${apart ? " in a pid namespace" : ""}`;
  return {
    name,
    service: null,
    again: null,
    ask: (branch, { token, parts }) => {
      const where = newest ? ["-c"] : ["--conversation", branch];
      const args = ["run", "--json", "--max-iterations", "20", ...where, requestOf(token, parts)];
      const running = world.start(args, apart ? { shell: NAMESPACE } : {});
      const said = world.over(running, `${name} ${token}`).then(saidByRun);
      return {
        running,
        said: noted(world, { name, token, said }),
        cancel: () => Promise.resolve(void signal(running, signals)),
      };
    },
  };
}

export function client(
  service: Service,
  how: { readonly stream: boolean; readonly key: string | null; readonly whenBusy: "refuse" | "wait" },
): Actor {
  const { world } = service;
  const name = `${service.name}${how.stream ? " streamed" : ""}${how.whenBusy === "wait" ? " waiting" : ""}${
    how.key ? ` key ${how.key}` : ""
  }`;
  return {
    name,
    service,
    again: how.key ? (other) => client(other, { ...how, stream: false }) : null,
    ask: (branch, { token, parts, leave }) => {
      const { key, ...rest } = how;
      const asked = { token, parts, ...rest, ...(key ? { key } : {}), ...(leave ? { leave } : {}) };
      const said = world.trial.within(`${name} ${token}`, service.send(branch, asked));
      return {
        running: service.running,
        said: noted(world, { name, token, said }),
        cancel: async () => void await service.read(`conversations/${branch}/cancel`, {}),
      };
    },
  };
}

function noted(
  { trial }: World,
  { name, token, said }: { readonly name: string; readonly token: string; readonly said: Promise<Said> },
): Promise<Said> {
  const shown = said.then((came) => {
    trial.note(`   ${name} ${token}: ${shownAs(came)}`);
    return came;
  });
  // A try that ended for another reason ignores it.
  shown.catch(() => {});
  return shown;
}

export async function canBeApart(): Promise<boolean> {
  try {
    const args = ["--pid", "--fork", "--kill-child", "--mount-proc", "true"];
    return (await new Deno.Command("unshare", { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
