import { unwalledMode } from "./arguments.ts";

/** Flags that several commands share, each with its help text. */
export const FLAGS = {
  model: ["--model <name>", "model to use, or provider/model (VIS_MODEL)"],
  provider: ["--provider <name>", "use only this provider, such as anthropic, ollama or demo (VIS_PROVIDER)"],
  /** For commands that call a model. */
  db: ["--db <path>", "database file, or :memory: (VIS_DB)"],
  /** For commands about stored data. */
  storedDb: ["--db <path>", "database file (VIS_DB)"],
  shell: ["--shell <mode>", "commands where their wall is not whole: ask, run or off", unwalledMode],
  cwd: ["--cwd <dir>", "workspace folder (default: current folder)"],
} as const;
