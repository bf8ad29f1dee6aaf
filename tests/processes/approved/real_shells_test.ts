import assert from "node:assert/strict";
import { join, normalize } from "node:path";
import fc from "fast-check";
import { readCommandLine } from "../../../src/processes/approved/_command_scopes.ts";
import { runs } from "../../helpers/long_part.ts";

const PROGRAMS = ["npm", "cargo", "pytest", "prog", "evil"];
/** Every shell that a machine may have as /bin/sh. */
const SHELLS: readonly (readonly string[])[] = [
  ["sh"],
  ["dash"],
  ["bash"],
  ["bash", "--posix"],
  ["busybox", "sh"],
  ["zsh", "-f"],
  ["mksh"],
];
const WORDS = [...PROGRAMS, "test", "--a=b", "-x", "a.ts", "./b", "'q q'", '"d d"', "x@1", "%1", "+n", "2", "a:b,c"];
const JOINTS = [
  " ",
  " ",
  " ",
  " && ",
  "||",
  ";",
  "; ",
  " | ",
  "|",
  "\n",
  " \n ",
  " 2>&1",
  " >/dev/null ",
  " </dev/null",
  " >out ",
  " 2>> err.txt",
];
const ODD = [
  ..."$`(){}<>&#~\\!*?[]'\"=^%@:;|\t\r\n \0é",
  ..."$(evil)|`evil`|$HOME|${evil}|>out|2>out|<a.ts|<<X|>&2|&>out|;;|&|*.ts|{a,b}|~|#x|!!|if|then|fi|do|X=1|=evil"
    .split("|"),
];

const line = fc.oneof(
  fc.array(fc.constantFrom(...WORDS, ...JOINTS), { minLength: 1, maxLength: 9 }).map((all) => `prog ${all.join("")}`),
  fc.array(fc.tuple(fc.constantFrom(...PROGRAMS), fc.array(fc.constantFrom(...WORDS), { maxLength: 3 })), {
    minLength: 1,
    maxLength: 3,
  }).chain((parts) =>
    fc.array(fc.constantFrom(...JOINTS.slice(4)), { minLength: parts.length, maxLength: parts.length }).map((joints) =>
      parts.map(([program, words], at) => `${[program, ...words].join(" ")}${joints[at]} `).join("").trimEnd()
    )
  ),
);
const changed = fc.tuple(line, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...ODD)), { maxLength: 2 })).map(
  ([text, odd]) =>
    odd.reduce((now, [at, put]) => {
      const place = at % (now.length + 1);
      return now.slice(0, place) + put + now.slice(place);
    }, text),
);

async function installed(): Promise<readonly (readonly string[])[]> {
  const path = (Deno.env.get("PATH") ?? "").split(":");
  const found = await Promise.all(SHELLS.map(async ([name = "", ...args]) => {
    for (const folder of path) {
      const program = join(folder, name);
      if (await Deno.stat(program).then(({ isFile }) => isFile, () => false)) return [[program, ...args]];
    }
    return [];
  }));
  return found.flat();
}

Deno.test("readCommandLine() no shell runs or writes anything but the programs, arguments and files of a plain line", async () => {
  const shells = await installed();
  assert.ok(shells.length >= 2);
  const folder = await Deno.makeTempDir();
  try {
    const [bin, cwd] = [join(folder, "bin"), join(folder, "cwd")];
    await Promise.all([Deno.mkdir(bin), Deno.mkdir(cwd)]);
    for (const name of PROGRAMS) {
      const text = `#!/bin/sh\nprintf '%s\\0' "\${0##*/}" "$@" END >>"$LOG"\n`;
      await Deno.writeTextFile(join(bin, name), text, { mode: 0o755 });
    }
    await Deno.writeTextFile(join(cwd, "a.ts"), "");
    let plain = 0, whole = 0, started = 0;
    await fc.assert(
      fc.asyncProperty(changed, async (text) => {
        const read = readCommandLine(text);
        if ("opaque" in read) return;
        plain++;
        const wanted = read.parts.map((part) => JSON.stringify(part)).sort();
        for (const [program = "", ...args] of shells) {
          // Each run has its own file, because some shells do not wait for all programs of a pipe.
          const log = join(folder, `log-${started++}`);
          await Deno.writeTextFile(log, "");
          await new Deno.Command(program, {
            args: [...args, "-c", text],
            cwd,
            clearEnv: true,
            env: { PATH: bin, HOME: cwd, LOG: log },
            stdin: "null",
            stdout: "null",
            stderr: "null",
          }).output();
          const calls = (await Deno.readTextFile(log)).split("END\0").slice(0, -1);
          const ran = calls.map((call) => JSON.stringify(call.split("\0").slice(0, -1))).sort();
          const left = [...wanted];
          for (const one of ran) {
            const at = left.indexOf(one);
            assert.notEqual(at, -1, `${program} ran ${one} for ${JSON.stringify(text)}`);
            left.splice(at, 1);
          }
          const names = new Set(read.parts.map(([name = ""]) => name));
          if (text.includes("|") || read.files.length > 0 || ![...names].every((name) => PROGRAMS.includes(name))) {
            continue;
          }
          whole++;
          assert.deepEqual(ran, wanted, `${program} did not run all of ${JSON.stringify(text)}`);
        }
        const own = new Set(read.files.map(normalize));
        for (const { name } of Deno.readDirSync(cwd)) {
          if (name === "a.ts") continue;
          assert.ok(own.has(name), `${JSON.stringify(text)} wrote ${name}`);
          await Deno.remove(join(cwd, name));
        }
      }),
      { numRuns: runs(150, 500) },
    );
    const least = runs(15, 50);
    assert.ok(plain >= least, `only ${plain} of the lines were plain`);
    assert.ok(whole >= least, `only ${whole} runs were of lines that run as a whole`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
