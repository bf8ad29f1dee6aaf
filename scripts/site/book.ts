/** The parts of the documentation in the order in which they are read; each page is in one of them. */
export const BOOK: readonly {
  readonly text: string;
  /** Path below docs/ without its extension, and title. */
  readonly pages: readonly (readonly [string, string])[];
}[] = [
  {
    text: "Begin",
    pages: [
      ["start", "Getting started"],
      ["why-code", "Why code instead of tool calls"],
      ["coming-from", "Coming from another agent"],
      ["tui", "The screen"],
      ["providers", "Models and providers"],
      ["approvals", "Approvals"],
      ["hooks", "Hooks"],
      ["glossary", "Glossary"],
    ],
  },
  {
    text: "Use it from elsewhere",
    pages: [
      ["http", "HTTP API and page"],
      ["clients", "MCP and ACP"],
      ["telegram", "Telegram"],
      ["team", "Running it for a team"],
      ["deploy/README", "Deployment"],
      ["deploy/scale", "Starting several nodes"],
      ["nodes", "Several nodes"],
      ["release", "Releases and packages"],
    ],
  },
  {
    text: "Extend it",
    pages: [
      ["first-extension", "Your first extension"],
      ["extensions", "Extensions"],
      ["extensions/examples/README", "Examples"],
      ["extensions/fs", "fs"],
      ["extensions/shell", "shell"],
      ["extensions/git", "git"],
      ["extensions/web", "web"],
      ["extensions/mcp", "mcp"],
      ["extensions/skills", "skills"],
      ["extensions/memo", "memo"],
      ["extensions/history", "history"],
      ["extensions/rlm", "rlm"],
      ["extensions/tabular", "tabular"],
      ["extensions/debug", "debug"],
    ],
  },
  {
    text: "How it works",
    pages: [
      ["protocol", "What the model sees"],
      ["recursion", "Recursion"],
      ["database", "The database"],
      ["architecture", "Architecture"],
    ],
  },
  {
    text: "Safety",
    pages: [
      ["threat-model", "Threat model"],
      ["sandbox", "The sandbox"],
      ["limits", "Limits"],
      ["generated/attacks", "Attacks that were tried"],
      ["faults", "Faults"],
      ["generated/faults", "Faults that were tried"],
      ["generated/chaos", "Nodes that fail"],
    ],
  },
  {
    text: "Measured",
    pages: [
      ["benchmarks", "Benchmarks"],
      ["generated/peers", "Beside other agents"],
      ["generated/soak", "An hour without rest"],
      ["evaluation", "Evaluation of models"],
      ["conformance", "Conformance"],
    ],
  },
  {
    text: "Reference",
    pages: [
      ["generated/cli", "The command line"],
      ["generated/configuration", "All settings"],
    ],
  },
];
