import { SandboxEnded } from "../../domain/errors.ts";
import { Semaphore } from "../../domain/kit/semaphore.ts";
import { ConfinedSandbox, type ConfinedSandboxOptions } from "./_confined_sandbox.ts";
import { WorkFolder } from "../launch/work_folder.ts";
import { ALL_WALLS, type Setup, type WallSwitches } from "../child/setup/setup.ts";
import { type ChildProgram, childProgram, launched } from "../launch/program.ts";
import { PROTOCOL_VERSION } from "../protocol.ts";
import { resolveGrants } from "../launch/resolve_grants.ts";
import type { Sandbox, SandboxOptions } from "../sandbox.ts";

/** Only tests and the probe of `vis doctor` pass these: they show what each wall stops by itself. */
export interface SandboxTestOptions {
  readonly walls?: Partial<WallSwitches>;
  /** Where the child's working folder is made; the temporary folder otherwise. */
  readonly folderRoot?: string;
  /** Something else in place of the child: one that lies. */
  readonly program?: ChildProgram;
}

/** Starting a child is work for the processor: more at once than there are cores only delay each other. */
const slots = new Semaphore(navigator.hardwareConcurrency, () => new SandboxEnded("the caller gave it up"));

/**
 * Starts one confined child and waits until its walls stand. The caller owns it and must `close` it. Rejects with
 * SandboxEnded when it does not come up, and with Error when its bundles are missing or a grant cannot be given.
 * Walls that this platform lacks are reported in `walls`, never skipped silently.
 */
export function openSandbox(options: SandboxOptions, test: SandboxTestOptions = {}): Promise<Sandbox> {
  return slots.run(async () => {
    const walls: WallSwitches = { ...ALL_WALLS, ...test.walls };
    const { limits: { memoryBytes, outputBytes, previewChars, graceMs }, launcher = [] } = options;
    const access = resolveGrants(options);
    if (launcher.length > 0 && access.read.length + access.write.length > 0) {
      throw new Error(`Cannot grant paths to a sandbox behind a launcher: ${launcher.join(" ")}`);
    }
    const setup: Setup = {
      version: PROTOCOL_VERSION,
      walls,
      parentPid: launcher.length > 0 ? 0 : Deno.pid,
      memoryBytes,
      outputBytes,
      previewChars,
      graceMs,
      functions: options.functions,
      untimed: options.untimed ?? [],
      access,
    };
    const own = test.program ?? childProgram({ memoryBytes, allPermissions: !walls.permissions, access });
    const program = launched(own, launcher);
    WorkFolder.sweep(test.folderRoot);
    const folder = new WorkFolder(test.folderRoot);
    const sandbox = spawned({ sandbox: options, setup, program, folder });
    await sandbox.start();
    return sandbox;
  }, options.signal);
}

/** A program that is not there throws at once, before anybody owns the folder. */
function spawned(options: ConfinedSandboxOptions): ConfinedSandbox {
  try {
    return new ConfinedSandbox(options);
  } catch (error) {
    options.folder.remove();
    throw error;
  }
}
