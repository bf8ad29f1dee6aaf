/** Flags that several commands have, each with its line of the help. */
export const FLAGS = {
  model: ["--model <name>", "model to use, or provider/model (VIS_MODEL)"],
  provider: ["--provider <name>", "the only provider to use, such as anthropic, ollama or demo (VIS_PROVIDER)"],
  /** Of a command that asks a model. */
  db: ["--db <path>", "database file, or :memory: (VIS_DB)"],
  /** Of a command about what is stored. */
  storedDb: ["--db <path>", "database file (VIS_DB)"],
  cwd: ["--cwd <dir>", "workspace folder; the current one by default"],
} as const;
