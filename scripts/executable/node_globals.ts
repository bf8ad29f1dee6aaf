/** The first module of the executable. Deno gives Node's globals only to files inside npm packages. In the bundle, a
 * package's code shares a file with the program's, where `setTimeout()` would return a number and `process` would be
 * missing. */
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
