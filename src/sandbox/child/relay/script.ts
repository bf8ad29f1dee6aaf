/** Entry point of the bundle with the relay and the parser, by far the largest part of the child. Its main thread
 * evaluates it while the worker loads, so that the start does not wait for it. */
import { Relay, type RelayOptions } from "./relay.ts";

Reflect.set(globalThis, Symbol.for("sandbox.relay"), (options: RelayOptions) => new Relay(options));
