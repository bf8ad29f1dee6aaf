/** Functions of Vis that extensions use as well. */
export { abortable } from "../domain/kit/abortable.ts";
export { BoundedMap } from "../domain/kit/bounded_map.ts";
export { ByteBuffer } from "../domain/kit/byte_buffer.ts";
export { type GitSetting, parseGitConfig, userGitSettings } from "../domain/kit/git_config.ts";
export { isSecureUrl } from "../domain/kit/is_secure_url.ts";
export { matchesWildcard } from "../domain/kit/matches_wildcard.ts";
export { messageOf, reasonOf } from "../domain/kit/message_of.ts";
export { editDistance, nearestName, nearestNames } from "../domain/kit/nearest_name.ts";
export { ensureFile, ensureFolder, replaceFile } from "../domain/kit/replace_file.ts";
export { commandText } from "../domain/text/command_text.ts";
export { isSecretFile } from "../domain/kit/secret_files.ts";
export { Semaphore } from "../domain/kit/semaphore.ts";
export { settledWithin } from "../domain/kit/settled_within.ts";
export { smallTextFile } from "../domain/kit/small_text_file.ts";
export { JsonMeter, JsonTooLarge, readForeignJson } from "../domain/text/read_foreign_json.ts";
export { type DecodedText, decodeText, type TextFormat } from "../domain/text/decode_text.ts";
export { schemaText } from "../domain/text/schema_text.ts";
export type { OwnStore } from "./own_store.ts";
