import { captured } from "./captured.ts";

export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly hint?: string;
}

/** Gives an error its facts, as properties that are not listed. */
export function setErrorFacts(error: Error, { name, message, hint }: ErrorFacts): Error {
  const set = (key: string, value: string): void => {
    captured.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false });
  };
  set("name", name);
  set("message", message);
  if (hint !== undefined) set("hint", hint);
  return error;
}
