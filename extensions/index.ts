/** The shipped extensions have the order of their blocks in the prompt. Each `import()` is literal, so that the
 * compiler includes it in the executable. */
export const shipped = {
  fs: () => import("./fs/mod.ts"),
  git: () => import("./git/mod.ts"),
  shell: () => import("./shell/mod.ts"),
  rlm: () => import("./rlm/mod.ts"),
  tabular: () => import("./tabular/mod.ts"),
  debug: () => import("./debug/mod.ts"),
  history: () => import("./history/mod.ts"),
  memo: () => import("./memo/mod.ts"),
  skills: () => import("./skills/mod.ts"),
  mcp: () => import("./mcp/mod.ts"),
  web: () => import("./web/mod.ts"),
};
