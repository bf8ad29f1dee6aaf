/** All that an extension may import, as `@vis/extension`. docs/extend/spec.md explains it. */
import type { Extension } from "./spec.ts";
import { type NormalExtension, validateExtension } from "./validate.ts";

export { z } from "zod";
export { fn, value } from "./spec.ts";
export { validateExtension as validate } from "./validate.ts";
export type {
  After,
  Before,
  ChildOptions,
  ChildResult,
  CliCommand,
  CliContext,
  DoctorCheck,
  DoctorContext,
  EnvironmentView,
  Extension,
  FileChanges,
  FileWatcher,
  FunctionOptions,
  FunctionSymbol,
  HostFunction,
  NudgeContext,
  OnError,
  OwnStore,
  ReplyExample,
  ValueSymbol,
} from "./spec.ts";
export type { CallOutcome } from "../domain/query/calls.ts";

// Functions of Vis that extensions use as well.
export { abortable, Pace, Semaphore } from "../domain/kit/concurrency.ts";
export { BoundedMap } from "../domain/kit/bounded_map.ts";
export { ByteBuffer } from "../domain/kit/bytes.ts";
export { type GitSetting, parseGitConfig, userGitSettings } from "../domain/kit/git_config.ts";
export { isSecureUrl } from "../domain/kit/addresses.ts";
export {
  ensureFile,
  ensureFolder,
  type FirstEntries,
  firstEntries,
  replaceFile,
  smallTextFile,
} from "../domain/kit/files.ts";
export { isSecretFile, matchesWildcard } from "../domain/kit/patterns.ts";
export { messageOf, reasonOf } from "../domain/errors.ts";
export { editDistance, nearestName, nearestNames } from "../domain/kit/names.ts";
export { commandText } from "../domain/kit/text.ts";
export { settledWithin } from "../domain/kit/time.ts";
export { exactJson, JsonMeter, JsonTooLarge, readForeignJson } from "../domain/kit/json.ts";
export { type DecodedText, decodeText, type TextFormat } from "../domain/kit/encoding.ts";
export { schemaText } from "./signatures.ts";

/** Validates an extension and fills in its optional keys. Throws TypeError that names the key and the extension. */
export function defineExtension(spec: Extension): NormalExtension {
  return validateExtension(spec);
}
