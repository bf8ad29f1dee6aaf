const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** Whether the engine that runs blocks accepts this as the name of a variable. */
export function isVariableName(name: string): boolean {
  return NAME.test(name);
}
