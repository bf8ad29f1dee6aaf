/** Deno gives Node's globals only to files of npm packages, but in the bundle, code of packages shares files with the
 * program. This module must run first. */
import { Buffer } from "node:buffer";
import process from "node:process";
import * as timers from "node:timers";

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = timers;
Object.assign(globalThis, {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  process,
  Buffer,
  global: globalThis,
});
