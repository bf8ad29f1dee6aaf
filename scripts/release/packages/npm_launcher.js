#!/usr/bin/env node
// Starts the executable of the package that npm installed for this platform.
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
    `vis: the package ${name} is not installed. If this platform is supported, install again without ` +
      "--omit=optional; otherwise build Vis from source.",
  );
  process.exit(1);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends its signals to both; the executable decides what they mean.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`vis: cannot start ${path}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
