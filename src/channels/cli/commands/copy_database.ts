import { durationText } from "../../../domain/kit/text.ts";
import type { DatabaseCopyProgress } from "../../../domain/records/database_maintenance.ts";
import type { CommandInput } from "../input/command_input.ts";
import { interrupt } from "../input/interrupt.ts";
import { printReport } from "../output/print_report.ts";

const CLEAR_LINE = "\r\x1b[K";

/** `vis db copy`. Shows its progress on a terminal. After Ctrl-C, the same command continues. */
export async function copyDatabaseCommand(
  from: string,
  to: string,
  { services, io, flags }: CommandInput<{ readonly json: boolean }>,
): Promise<number> {
  using interrupted = interrupt(io);
  const show = (text: string) => io.stderrIsTerminal && io.stderr(CLEAR_LINE + text);
  try {
    const { signal } = interrupted;
    const report = await services.copyDatabase({ from, to, signal, onProgress: (progress) => show(lineOf(progress)) });
    show("");
    const { rows, ms } = report;
    return printReport(report, [
      `Copied ${report.from} to ${report.to}: ${rows} rows, each compared, in ${durationText(ms)}`,
    ], { io, flags });
  } catch (error) {
    show("");
    throw error;
  }
}

function lineOf({ step, rows, of }: DatabaseCopyProgress): string {
  return `${step === "copying" ? "Copying" : "Comparing"} row ${rows} of ${of}`;
}
