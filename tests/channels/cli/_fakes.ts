import type { Io, Services } from "../../../src/channels/channel.ts";
import type { ExtensionAdmin } from "../../../src/domain/admin_reports.ts";

export interface FakeIo extends Io {
  readonly out: string;
  readonly err: string;
  interrupt(): void;
}

export function fakeIo(options: Partial<Io> & { readonly stdin?: string } = {}): FakeIo {
  const handlers = new Set<() => void>();
  const written = { out: "", err: "" };
  return {
    get out() {
      return written.out;
    },
    get err() {
      return written.err;
    },
    args: [],
    stdout: (text) => void (written.out += text),
    stderr: (text) => void (written.err += text),
    stdinIsTerminal: options.stdin === undefined,
    stdinIsPiped: () => options.stdin !== undefined,
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    stdoutColor: false,
    stderrColor: false,
    columns: () => 80,
    rows: () => 24,
    stdinPieces: () => ReadableStream.from([new TextEncoder().encode(options.stdin ?? "")]),
    readStdin: () => Promise.resolve(options.stdin ?? ""),
    askLine: () => Promise.reject(new TypeError("This terminal was not to be asked")),
    askSecret: () => Promise.reject(new TypeError("This terminal was not to be asked")),
    onInterrupt: (run) => {
      handlers.add(run);
      return () => handlers.delete(run);
    },
    interrupt: () => handlers.forEach((run) => run()),
    ...options,
  };
}

const unasked = (): never => {
  throw new TypeError("This was not to be asked of the extensions");
};
export const NO_EXTENSIONS: ExtensionAdmin = {
  list: unasked,
  show: unasked,
  check: unasked,
  test: unasked,
  changes: unasked,
  create: unasked,
  add: unasked,
  remove: unasked,
  unknown: unasked,
  trustable: unasked,
  trust: unasked,
  distrust: unasked,
  commands: unasked,
  requests: unasked,
  run: () => Promise.resolve(null),
};

export function fakeServices(services: Partial<Services> = {}): Services {
  const never = (): never => {
    throw new TypeError("This service was not to be asked");
  };
  return {
    version: { vis: "1.2.3", deno: "2.9.6", v8: "15.0", compiled: false, target: "test" },
    open: never,
    replayPlace: never,
    serve: never,
    openBrowser: never,
    checkServer: never,
    speak: never,
    telegram: never,
    screen: never,
    doctor: never,
    doctorReport: never,
    prompts: () => Promise.resolve([]),
    approvalAdmin: never,
    providerAdmin: never,
    extensionAdmin: () => Promise.resolve({ ...NO_EXTENSIONS }),
    databaseCare: never,
    copyDatabase: never,
    configAdmin: never,
    update: never,
    respawn: never,
    ...services,
  };
}
