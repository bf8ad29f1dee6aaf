/** Each isolate of `deno test` costs processor time and memory before its first test, and compiles the modules that it
 * loads. Neighbouring files load mostly the same modules, so they share an isolate. */
import { join, sep as SEPARATOR } from "node:path";
import { pathToFileURL } from "node:url";

/** Without `--all` and without paths, `deno task test` skips these files. The other files should contain a test of each
 * kind of fault. */
const LONG: readonly string[] = [
  "tests/e2e/compiled_long_test.ts",
  "tests/processes/planting_test.ts",
  "tests/faults/kill_anywhere_test.ts",
  "tests/e2e/page",
  "tests/app/extensions/extension_types_test.ts",
  "tests/app/extensions/new_extension_test.ts",
  "tests/app/otel/telemetry_test.ts",
  "tests/bench/eval",
  "tests/channels/http/docs/generated_client_test.ts",
  "tests/channels/http/load_test.ts",
  "tests/channels/http/openai/ai_sdk_test.ts",
  "tests/channels/http/openai/langchain_test.ts",
  "tests/channels/http/tenants_postgres_test.ts",
  "tests/channels/tui/long_conversation_test.ts",
  "tests/channels/tui/monkey_test.ts",
  "tests/channels/tui/panels/any_keys_test.ts",
  "tests/conformance/corpus_test.ts",
  "tests/conformance/programs_test.ts",
  "tests/conversation/counted_children_test.ts",
  "tests/conversation/nodes",
  "tests/conversation/other_process_test.ts",
  "tests/docs/first_extension_test.ts",
  "tests/e2e/attacks_compiled_test.ts",
  "tests/e2e/attacks_web_compiled_test.ts",
  "tests/e2e/container_test.ts",
  "tests/e2e/hostile_calls_compiled_test.ts",
  "tests/e2e/hostile_compiled_test.ts",
  "tests/e2e/image_test.ts",
  "tests/e2e/outputs_test.ts",
  "tests/e2e/packages_test.ts",
  "tests/e2e/update_test.ts",
  "tests/environment/limits_test.ts",
  "tests/environment/realm_modules_test.ts",
  "tests/evaluation/evaluation_test.ts",
  "tests/extensions/examples_test.ts",
  "tests/extensions/fs/kill_test.ts",
  "tests/extensions/fs/many_names_test.ts",
  "tests/extensions/fs/race_test.ts",
  "tests/extensions/git/confine_test.ts",
  "tests/extensions/git/deputy_each_test.ts",
  "tests/extensions/git/history",
  "tests/extensions/git/limits_test.ts",
  "tests/extensions/git/planted_test.ts",
  "tests/extensions/git/program/unusual_test.ts",
  "tests/extensions/hostile/hostile_blocks_test.ts",
  "tests/extensions/hostile/hostile_calls_test.ts",
  "tests/extensions/mcp/faulty_test.ts",
  "tests/extensions/mcp/planted_test.ts",
  "tests/extensions/mcp/real_servers_test.ts",
  "tests/extensions/mcp/results_test.ts",
  "tests/extensions/shell/attacks_test.ts",
  "tests/extensions/shell/many_files_test.ts",
  "tests/faults/chaos_test.ts",
  "tests/faults/families_test.ts",
  "tests/faults/first_row_test.ts",
  "tests/faults/flips_test.ts",
  "tests/faults/sandbox_killed_test.ts",
  "tests/faults/two_processes_test.ts",
  "tests/ground/bin_vis_test.ts",
  "tests/ground/compile_executable_test.ts",
  "tests/ground/test_task_test.ts",
  "tests/persistence/copy_store_test.ts",
  "tests/persistence/maintenance",
  "tests/persistence/nodes",
  "tests/persistence/postgres",
  "tests/persistence/sqlite/table_rows_test.ts",
  "tests/persistence/store/postgres_store_test.ts",
  "tests/processes/approved/real_shells_test.ts",
  "tests/processes/folder_entries_test.ts",
  "tests/processes/linux/linux_wall_attacks_test.ts",
  "tests/processes/owner_attacks_test.ts",
  "tests/processes/private_mounts_test.ts",
  "tests/processes/protected/workspace_walk_test.ts",
  "tests/processes/seatbelt",
  "tests/providers/replay_test.ts",
  "tests/sandbox/attacks",
  "tests/sandbox/beside_turns_test.ts",
  "tests/sandbox/child/compiler/long_block_test.ts",
  "tests/sandbox/each_runtime_test.ts",
  "tests/sandbox/errors_live_test.ts",
  "tests/sandbox/grants_alone_test.ts",
  "tests/sandbox/host/child_fuzz_test.ts",
  "tests/sandbox/host/fuzz_test.ts",
  "tests/sandbox/host/lies_test.ts",
  "tests/sandbox/host/loops_test.ts",
  "tests/sandbox/host/probe_walls_test.ts",
  "tests/sandbox/intrinsics_test.ts",
  "tests/sandbox/launcher_test.ts",
  "tests/sandbox/modules/realm_modules_live_test.ts",
  "tests/sandbox/names_live_test.ts",
  "tests/sandbox/plain_evaluation_test.ts",
  "tests/sandbox/previews_live_test.ts",
  "tests/sandbox/quick_calls_test.ts",
  "tests/sandbox/rest_test.ts",
  "tests/sandbox/results_live_test.ts",
  "tests/sandbox/untimed_test.ts",
  "tests/sandbox/values_live_test.ts",
  "tests/scripts/release/packages_test.ts",
];
const FIRST: readonly string[] = [
  "tests/e2e/compiled_test.ts",
  ...LONG,
  "tests/e2e",
];
/** These files change the isolate, measure it or leave work running, so each file has its own isolate. */
const ALONE: readonly string[] = [
  ...FIRST,
  "tests/processes/linux/linux_wall_test.ts",
  "tests/sandbox/codec/decode_test.ts",
  "tests/sandbox/host/fuzz_test.ts",
  "tests/sandbox/modules/realm_module_test.ts",
];
const QUICK: readonly string[] = ["tests/domain", "tests/scripts"];
/** The last isolates have few files, so that all processors end at about the same time. */
const AT_MOST = 64, AT_LEAST = 12;

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

async function filesAt(root: string, path: string): Promise<string[]> {
  const place = join(root, path);
  if ((await Deno.stat(place)).isFile) return [path];
  const entries = await Array.fromAsync(Deno.readDir(place));
  const found = await Promise.all(entries.map(({ name, isDirectory }) => {
    if (isDirectory) return filesAt(root, join(path, name));
    return /_test\.tsx?$/.test(name) ? [join(path, name)] : [];
  }));
  return found.flat();
}

export async function testFiles(root: string, paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all((paths.length > 0 ? paths : ["tests"]).map((path) => filesAt(root, path)));
  return [...new Set(found.flat())].sort();
}

export function isLong(file: string): boolean {
  return LONG.some((place) => isBelow(file, place));
}

export function groupTests(files: readonly string[], parts: number): string[][] {
  const rank = (file: string): number => [...ALONE, "tests"].findIndex((place) => isBelow(file, place));
  const isQuick = (file: string): boolean => QUICK.some((place) => isBelow(file, place));
  const shared = files.filter((file) => rank(file) === ALONE.length);
  const alone = files.filter((file) => !shared.includes(file)).sort((a, b) => rank(a) - rank(b));
  const groups = alone.map((file) => [file]);
  const last = shared.filter(isQuick), others = shared.filter((file) => !isQuick(file));
  for (const left = [...last, ...others]; left.length > 0;) {
    const share = Math.max(AT_LEAST, Math.ceil(left.length / parts));
    const size = Math.min(AT_MOST, share, Math.ceil(shared.length / parts));
    groups.push(left.splice(-size).sort());
  }
  return groups;
}

export function groupName([first = "", ...others]: readonly string[]): string {
  const name = first.replaceAll(SEPARATOR, ".");
  return others.length === 0 ? name : `${name.replace(/\.tsx?$/, "")}+${others.length}.ts`;
}

export function groupModule(root: string, files: readonly string[]): string {
  const loads = files.map((file) =>
    `  [${JSON.stringify(file)}, () => import(${JSON.stringify(pathToFileURL(join(root, file)).href)})],\n`
  );
  return `const FILES = [\n${loads.join("")}];
for (const [file, load] of FILES) {
  await load().catch((error) => Deno.test(file + " is loaded", () => Promise.reject(error)));
}
`;
}
