/** Shipped extensions: name to literal `import()`, so that they are compiled in and loaded only when wanted. */
export const shipped = {
  fs: () => import("./fs/mod.ts"),
};
