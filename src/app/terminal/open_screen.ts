import { devNull } from "node:os";
import { join } from "node:path";
import type { Io, OpenRequest, ScreenRequest, Session } from "../../channels/channel.ts";
import type { RunCommand } from "../../channels/tui/user_commands.ts";
import { ConfigError, reasonOf, UsageError } from "../../domain/errors.ts";
import { imageMediaType } from "../../domain/images.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { openSession, type SessionParts } from "../session/open_session.ts";
import { gitState, noRepository, readChanges } from "./git_state.ts";
import { programsOf, readSettings, rootOf, visHome } from "../settings/settings.ts";
import { dumbTerminal } from "./deno_io.ts";

async function withoutModel(error: unknown, request: OpenRequest, parts: SessionParts): Promise<Session> {
  if (!(error instanceof ConfigError) || !NO_MODEL.includes(error.code)) throw error;
  const session = await openSession({ ...request, browse: true }, parts);
  return { ...session, provider: "", model: "", withoutModel: error.problem };
}

const NO_MODEL: readonly ConfigError["code"][] = ["no_provider", "unserved", "no_model"];

export async function screen(
  { continue: newest, conversation, request: words, ...asked }: ScreenRequest,
  { io, ...parts }: SessionParts & { readonly io: Io },
): Promise<number> {
  const { env } = parts, request = { ...asked, serves: [] };
  const dumb = dumbTerminal(env);
  if (dumb !== null) throw new UsageError(`Cannot start interactive mode: ${dumb}; use vis run`);
  const [{ runScreen }, { OwnTerminal }, { PrefsFile }, session] = await Promise.all([
    import("../../channels/tui/run_screen.ts"),
    import("../../channels/tui/terminal.ts"),
    import("../../channels/tui/prefs.ts"),
    openSession(request, parts).catch((error: unknown) => withoutModel(error, request, parts)),
  ]);
  const home = visHome(env);
  const { prefs, note } = await PrefsFile.open(join(home ?? devNull, "tui.json"));
  return await runScreen({
    ...{ io, home, prefs },
    terminal: (gone) => new OwnTerminal(gone),
    providers: async () => {
      const { AppProviderAdmin } = await import("../providers/provider_admin.ts");
      return new AppProviderAdmin(await readSettings(request, env, parts));
    },
    config: async () => {
      const { AppConfigAdmin } = await import("../settings/config_admin.ts");
      return await AppConfigAdmin.open(request, parts);
    },
    extensions: async () => {
      const { AppExtensionAdmin } = await import("../extensions/extension_admin.ts");
      return new AppExtensionAdmin(await readSettings(request, env, parts), parts);
    },
    runCommand: runUserCommand,
    clipboardImage,
    edit: (text) => editText(text, env["VISUAL"] || env["EDITOR"] || (Deno.build.os === "windows" ? "notepad" : "vi")),
    gitState: async (workspace) => {
      const settings = await readSettings(request, env, parts);
      return await gitState({
        root: rootOf({ ...settings, workspace }, env),
        ...programsOf(settings, parts),
      });
    },
    gitChanges: async (workspace) => {
      const settings = await readSettings(request, env, parts);
      const root = rootOf({ ...settings, workspace }, env);
      if (root === null) throw await noRepository(workspace, "Cannot show the uncommitted changes");
      return await readChanges({ kind: "uncommitted", name: "" }, {
        root,
        workspace,
        ...programsOf(settings, parts),
      });
    },
    userHome: env["HOME"] ?? env["USERPROFILE"] ?? "",
    color: io.stdoutColor,
  }, {
    session: note === "" ? session : { ...session, notes: [...session.notes ?? [], note] },
    place: { continue: newest, conversation, request: words, addDir: request.addDir, cwd: request.cwd },
  });
}

const CLIPBOARDS: readonly (readonly [string, ...string[]])[] = [
  ["wl-paste", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
  ["pngpaste", "-"],
  ["pbpaste", "-Prefer", "png"],
];

const NO_IMAGE = { success: false, stdout: new Uint8Array() };

async function clipboardImage(): Promise<Uint8Array<ArrayBuffer> | null> {
  for (const [program, ...args] of CLIPBOARDS) {
    const command = new Deno.Command(program, { args, stdin: "null", stderr: "null" });
    // `output` throws if the program is absent.
    const { success, stdout } = await Promise.try(() => command.output()).catch(() => NO_IMAGE);
    if (success && imageMediaType(stdout) !== null) return stdout;
  }
  return null;
}

async function editText(text: string, editor: string): Promise<string | null> {
  const folder = await Deno.makeTempDir({ prefix: "vis-" });
  try {
    const path = join(folder, "request.md");
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    const [program = "", ...args] = editor.trim().split(/\s+/);
    const { code } = await startEditor(program, [...args, path]).status;
    if (code !== 0) {
      throw new UsageError(
        `Cannot use the edited text: the editor ended with exit code ${code}; open the editor again, and end it without an error`,
      );
    }
    const edited = (await Deno.readTextFile(path)).replace(/\n$/, "");
    return edited === text ? null : edited;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function startEditor(program: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(program, { args: [...args] }).spawn();
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "no program has this name" : reasonOf(error);
    throw new UsageError(`Cannot start the editor ${program}: ${why}; set VISUAL or EDITOR to another`);
  }
}

const KILLED_MS = 2_000;

export async function runUserCommand(
  command: string,
  { cwd, signal, onOutput }: Parameters<RunCommand>[1],
): Promise<string> {
  const shell = Deno.build.os === "windows" ? ["cmd", "/c", command] : ["sh", "-c", `exec 2>&1\n${command}`];
  const [program = "", ...args] = shell;
  const child = new Deno.Command(program, {
    ...{ args, cwd, stdin: "null", stdout: "piped", stderr: "null" },
    detached: true, // The command gets its own process group, so that Vis can end the processes of the group together.
  }).spawn();
  const killed = new AbortController();
  const send = (by: Deno.Signal): void => {
    try {
      if (Deno.build.os === "windows") child.kill(by);
      else Deno.kill(-child.pid, by);
    } catch { /* The processes have ended. */ }
  };
  let killing: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => {
    send("SIGTERM");
    killing = setTimeout(() => {
      send("SIGKILL");
      killed.abort();
    }, KILLED_MS);
  };
  signal.addEventListener("abort", end);
  try {
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      // A process that left the group may keep the output open.
      const read = await abortable(output.read(), killed.signal).catch((error) => {
        if (killed.signal.aborted) return null;
        throw error;
      });
      if (read === null || read.done) break;
      onOutput(read.value);
    }
    await output.cancel();
    const { code, signal: by } = await child.status;
    if (by !== null) return `ended by ${by}`;
    return code === 0 ? "" : `exit code ${code}`;
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", end);
  }
}
