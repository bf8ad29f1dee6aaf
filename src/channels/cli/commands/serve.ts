import { isAbsolute } from "node:path";
import { Cancelled, StoreError } from "../../../domain/errors.ts";
import { aborted } from "../../../domain/kit/concurrency.ts";
import { shellText, visibleText } from "../../../domain/kit/text.ts";
import type { RunningServer, ServeRequest, SpeakRequest, TelegramRequest } from "../../channel.ts";
import { describeError, interrupt } from "../output.ts";
import type { CommandInput } from "../program/command.ts";

/** Logs may keep other output, so Vis prints the token only on a terminal. */
export async function serveCommand(
  { services, io, flags: { check, open, qr, ...flags } }: CommandInput<
    ServeRequest & { readonly check?: boolean; readonly open?: boolean; readonly qr?: boolean }
  >,
): Promise<number> {
  if (check) return await checkServer({ services, io, flags });
  using interrupted = interrupt(io);
  const server = await services.serve(flags);
  const isSeen = io.stdoutIsTerminal && io.stderrIsTerminal;
  io.stdout(`${isSeen ? addressOf(server) : server.url}\n`);
  io.stderr(`vis · ${visibleText(`${server.provider} ${server.model} · token from ${server.tokenFrom}`)}\n`);
  for (const note of server.notes) io.stderr(`vis · ${visibleText(note)}\n`);
  for (const line of howToSignIn(server, isSeen)) io.stderr(`vis · ${visibleText(line)}\n`);
  if (qr) io.stderr(await qrText(server, { isSeen, color: io.stderrColor }));
  const browser = open ? await services.openBrowser(addressOf(server)) : null;
  void browser?.problem.then((problem) => {
    if (problem !== "") io.stderr(`vis · Cannot open a browser: ${visibleText(problem)}; open the address yourself\n`);
  });
  await aborted(interrupted.signal);
  io.stderr("vis · shutting down: running requests may finish; press Ctrl-C again to stop at once\n");
  await Promise.all([server.close(), browser?.close()]);
  return 0;
}

function addressOf({ url, token }: Pick<RunningServer, "url" | "token">): string {
  return token === null ? url : `${url}#token=${encodeURIComponent(token)}`;
}

/** A log must not keep the token, so a code needs a terminal. */
async function qrText(
  { reached: [url], token }: Pick<RunningServer, "reached" | "token">,
  { isSeen, color }: { readonly isSeen: boolean; readonly color: boolean },
): Promise<string> {
  const fault = url === undefined
    ? "Vis knows no address for other machines; set server.hosts to an IP address of this machine, and use --host 0.0.0.0"
    : isSeen
    ? ""
    : "stdout or stderr is not a terminal";
  if (url === undefined || fault !== "") return `vis · Cannot show a QR code: ${fault}\n`;
  const { encode } = await import("uqr");
  const { data } = encode(addressOf({ url: url.replace(/\/?$/, "/"), token }), { border: 2 });
  const lines: string[] = [];
  for (let row = 0; row < data.length; row += 2) {
    const [above = [], below = []] = data.slice(row, row + 2);
    const line = above.map((isDark, at) => " ▄▀█"[2 * Number(!isDark) + Number(!(below[at] ?? false))]).join("");
    lines.push(color ? `\x1b[97;40m${line}\x1b[0m` : line);
  }
  const secret = token === null ? "" : ": it contains the token, so show it to nobody";
  return `${lines.join("\n")}\nvis · scan the code with a phone${secret}\n`;
}

function howToSignIn({ url, token, tokenFrom }: RunningServer, isSeen: boolean): readonly string[] {
  if (token === null) return ["open the address in a browser, and enter your token"];
  if (isSeen) return ["open the address in a browser: it contains the token and signs you in, so share it with nobody"];
  if (!isAbsolute(tokenFrom)) return [`open ${url} in a browser, and enter the token`];
  return [
    `open ${url} in a browser, and enter the token in ${tokenFrom}`,
    `or open the address that this command prints: echo "${url}#token=$(cat ${shellText([tokenFrom])})"`,
  ];
}

async function checkServer({ services, io, flags }: CommandInput<ServeRequest>): Promise<number> {
  const { url, problem } = await services.checkServer(flags);
  if (problem === "") io.stdout(`${url} responds\n`);
  else io.stderr(`vis · Cannot use ${url}: ${problem}\n`);
  return problem === "" ? 0 : 1;
}

export async function speakCommand(
  { services, io, flags }: CommandInput<Omit<SpeakRequest, "onNote">>,
): Promise<number> {
  if (io.stdinIsTerminal) io.stderr(`vis · waiting for a client on stdin (see vis ${flags.protocol} --help)\n`);
  using interrupted = interrupt(io);
  const peer = await services.speak({ ...flags, onNote: (text) => io.stderr(`vis: ${text}\n`) });
  const fault = await Promise.race([peer.ended, aborted(interrupted.signal)]);
  await peer.close();
  return fault instanceof Error ? describeError(fault)?.code ?? 1 : 0;
}

type TelegramFlags = Omit<TelegramRequest, "onNote" | "signal">;

const ALLOWED = "telegram.allow";

type Place = Pick<CommandInput<unknown>, "services" | "io">;

export async function telegramCommand({ services, io, flags }: CommandInput<TelegramFlags>): Promise<number> {
  using interrupted = interrupt(io);
  const { signal } = interrupted;
  const onNote = (text: string): void => io.stderr(`vis · ${visibleText(text)}\n`);
  try {
    const bot = await services.telegram({ ...flags, onNote, signal });
    io.stdout(`https://t.me/${bot.username}\n`);
    onNote(`@${bot.username} · ${bot.provider} ${bot.model}`);
    for (const note of bot.notes) onNote(note);
    try {
      await Promise.race([bot.ended, aborted(signal)]);
    } finally {
      if (signal.aborted) onNote("shutting down: running requests may finish; press Ctrl-C again to stop at once");
      await bot.close();
    }
    return 0;
  } catch (error) {
    if (error instanceof Cancelled && signal.aborted) return 0;
    if (!(error instanceof StoreError)) throw error;
    io.stderr(`vis: ${visibleText(error.message)}\n`);
    return 1; // A restart may help, unlike after exit code 3.
  }
}

export async function allowUsers(added: readonly number[], place: Place): Promise<number> {
  return await changeAllowed((before) => [...new Set([...before, ...added])], place);
}

export async function disallowUsers(removed: readonly number[], place: Place): Promise<number> {
  return await changeAllowed((before) => before.filter((id) => !removed.includes(id)), place);
}

async function changeAllowed(
  changed: (before: readonly number[]) => readonly number[],
  { services, io }: Place,
): Promise<number> {
  const admin = await services.configAdmin({});
  const { value } = await admin.explain(ALLOWED);
  const before = Array.isArray(value) ? value.filter((id) => typeof id === "number") : [];
  const ids = changed(before);
  if (ids.length !== before.length) await admin.set(ALLOWED, { words: [JSON.stringify(ids)], project: false });
  const names = ids.length === 0 ? "nobody" : ids.join(", ");
  io.stderr(`vis: the bot answers ${names} (${ALLOWED} in ${visibleText(admin.path({ project: false }))})\n`);
  return 0;
}
