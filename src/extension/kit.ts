/** Functions of Vis that extensions use as well. */
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
export { JsonMeter, JsonTooLarge, readForeignJson } from "../domain/kit/json.ts";
export { type DecodedText, decodeText, type TextFormat } from "../domain/kit/encoding.ts";
export { schemaText } from "./schema_text.ts";
export type { OwnStore } from "./own_store.ts";
