/** Extensions import this interface as `@vis/extension`. docs/extend/spec.md explains it. */
export { z } from "zod";
export {
  type After,
  type Before,
  type ChildOptions,
  type ChildResult,
  type CliCommand,
  type CliContext,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  type Extension,
  type FileChanges,
  type FileWatcher,
  fn,
  type FunctionOptions,
  type FunctionSymbol,
  type HostFunction,
  type NamedFile,
  type NudgeContext,
  type OnError,
  type OwnStore,
  type ReplyExample,
  type UndoneChange,
  value,
  type ValueSymbol,
  type WatchOptions,
} from "./spec.ts";
export { defineExtension, defineExtension as validate } from "./validate.ts";
export { plainScopes } from "../domain/query/approval.ts";
export type { CallOutcome } from "../domain/query/host_call.ts";
export { abortable, Pace, Semaphore, settledWithin } from "../domain/kit/concurrency.ts";
export { BoundedMap } from "../domain/kit/bounded_map.ts";
export { ByteBuffer, type DecodedText, decodeText, type TextFormat } from "../domain/kit/bytes.ts";
export { type GitSetting, isSha256, parseGitConfig, userGitSettings } from "../domain/kit/git_config.ts";
export {
  commonFolderOf,
  gitFolderOf,
  GitIndex,
  isOwnRepository,
  namesTop,
  repositoriesBelow,
} from "../domain/kit/git_repository.ts";
export { isSecureUrl } from "../domain/kit/addresses.ts";
export {
  ensureFile,
  ensureFolder,
  firstBytes,
  type FirstEntries,
  firstEntries,
  hasPlaceholderMode,
  isBelow,
  isWithin,
  openPlainFile,
  plainFile,
  replaceFile,
  smallTextFile,
} from "../domain/kit/files.ts";
export { editDistance, isSecretFile, matchesWildcard, nearestName, nearestNames } from "../domain/kit/names.ts";
export { advised, errnoText, messageOf, reasonOf, retold, withoutAdvice } from "../domain/errors.ts";
export { clip, commandFacts, commandText, counted, oneLine, shorten, someOf } from "../domain/kit/text.ts";
export { AS_BEFORE } from "../domain/query/work_summary.ts";
export { exactJson, JsonMeter, JsonTooLarge, readForeignJson } from "../domain/kit/json.ts";
export { schemaText } from "./signatures.ts";
