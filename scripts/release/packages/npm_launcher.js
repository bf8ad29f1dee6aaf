#!/usr/bin/env node
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `vis-agent-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "vis.exe" : "vis";
let path;
try {
  path = require.resolve(`${name}/${file}`);
} catch {
  console.error(
    `vis: Cannot start: the package ${name} is not installed; if Vis supports this platform, install again without ` +
      "--omit=optional, or else build Vis from source",
  );
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends these signals to both processes, and only the executable handles them.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`vis: Cannot start ${path}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
