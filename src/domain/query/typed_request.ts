import { UsageError } from "../errors.ts";
import { instructionsOf, requestOfPrompt, reviewRequest, reviewTarget } from "./stored_query.ts";

export interface TypedCommand {
  readonly name: string;
  readonly rest: string;
}

export interface TypedRequest {
  readonly text: string;
  readonly only?: "plan" | "review";
}

export function typedCommand(text: string): TypedCommand | null {
  const [, name, rest = ""] = /^\/([a-z][a-z0-9_-]*)(\s[^]*)?$/.exec(text.trim()) ?? [];
  return name === undefined ? null : { name, rest };
}

/** `prompt` is the text of the user's prompt with this name. A prompt named `review` replaces `/review`. */
export function requestOfCommand({ name, rest }: TypedCommand, prompt: string | null): TypedRequest | null {
  if (name === "plan") return { text: rest.trim(), only: name };
  if (prompt !== null) return { text: requestOfPrompt(prompt, rest.trim()) };
  return name === "review" ? { text: reviewRequest(...reviewOf(rest)), only: name } : null;
}

export function withoutWords(name: string): UsageError {
  return new UsageError(
    `Cannot send /${name}: it has no words; write a request, such as "/plan Split this module"`,
  );
}

export function lineOfRequest({ text, only }: { readonly text: string; readonly only?: string | undefined }): string {
  if (only === "plan") return `/plan ${text}`;
  const target = only === "review" ? reviewTarget(text) : null;
  if (target === null) return text;
  const instructions = instructionsOf(text, target), gap = target.name === "" ? "\n" : " ";
  return `/review ${target.name}`.trim() + (instructions === "" ? "" : gap + instructions);
}

export function reviewOf(rest: string): [target: string, instructions: string] {
  const [first = "", target = ""] = /^[^\S\n]+(\S+)/.exec(rest) ?? [];
  return [target, rest.slice(first.length).trim()];
}

/** A value is the equivalent on the command line, or "" without an equivalent. */
export const SCREEN_COMMANDS: Readonly<Record<string, string>> = {
  new: "a request without -c",
  conversations: "vis conversations list",
  resume: "-c or --conversation ID",
  retry: "vis conversations retry ID",
  more: "vis run --more",
  find: "vis search",
  inputs: "",
  rewind: "vis undo",
  fork: "--fork ID",
  diff: "vis undo --list",
  undo: "vis undo",
  redo: "vis undo --redo",
  rename: "vis conversations rename ID TITLE",
  think: "--reasoning LEVEL",
  budget: "--max-iterations N and --max-cost USD",
  model: "--model NAME",
  btw: "",
  mcp: "vis mcp-check",
  jobs: "",
  vars: "vis vars",
  inspect: "vis prompt --conversation ID",
  copy: "",
  export: "vis conversations export ID",
  cancel: "Ctrl-C",
  expand: "-v",
  whole: "-v",
  todo: "",
  thinking: "--trace",
  steps: "--max-iterations N",
  iterations: "--max-iterations N",
  theme: "",
  settings: "--reasoning LEVEL, --max-iterations N, and vis config for other settings",
  help: "vis help",
  quit: "",
  exit: "",
  palette: "",
};
