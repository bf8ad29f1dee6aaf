import type { EnvironmentView } from "@vis/extension";
import type { Job, JobReport, ReadOutputOptions } from "./job.ts";

const MOST_RUNNING = 8;
/** How many ended commands are kept for reading. */
const MOST_ENDED = 8;

/** The commands of one conversation that keep running between calls. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  #next = 1;

  /** Throws Error if too many are running. */
  add(make: (id: string) => Job): Job {
    const running = this.running;
    if (running.length >= MOST_RUNNING) {
      throw new Error(
        `Cannot start another command: ${running.length} run, the limit; stop one of ${running.map(named).join(", ")}`,
      );
    }
    for (const { id } of [...this.#jobs.values()].filter((job) => !job.running).slice(0, -MOST_ENDED)) {
      this.#jobs.delete(id);
    }
    const job = make(`c${this.#next++}`);
    this.#jobs.set(job.id, job);
    return job;
  }

  get running(): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => job.running);
  }

  /** All that can be read, oldest first. */
  get all(): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => !job.failed);
  }

  async read(
    id: string,
    options: ReadOutputOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<JobReport> {
    return await this.#reported(id, (job) => job.read(options, options.signal));
  }

  async stop(id: string): Promise<JobReport> {
    return await this.#reported(id, (job) => job.stop());
  }

  async #reported(id: string, ask: (job: Job) => Promise<JobReport>): Promise<JobReport> {
    const job = this.#jobs.get(id);
    if (!job) throw new Error(`Cannot find command ${id}: there is ${this.all.map(named).join(", ") || "none"}`);
    try {
      return await ask(job);
    } finally {
      if (job.failed) this.#jobs.delete(id);
    }
  }
}

const ALL = new Map<string, Jobs>();

/** The commands of a conversation, kept until it is closed; created if there are none yet. */
export function jobsOf({ envId, closed }: Pick<EnvironmentView, "envId" | "closed">): Jobs {
  const found = ALL.get(envId);
  if (found) return found;
  const jobs = new Jobs();
  ALL.set(envId, jobs);
  closed?.addEventListener("abort", () => void ALL.delete(envId), { once: true });
  return jobs;
}

/** Running commands of a conversation; creates nothing. */
export function runningIn(envId: string): readonly Job[] {
  return ALL.get(envId)?.running ?? [];
}

const named = ({ id, command }: Job): string => `${id} (${command.length > 60 ? `${command.slice(0, 60)}…` : command})`;
