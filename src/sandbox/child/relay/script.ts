/**
 * Entry of the bundle that holds the relay, and with it the parser: by far the largest part of the child. Its main
 * thread evaluates it while the worker loads, so that start-up does not wait for it.
 */
import { Relay, type RelayOptions } from "./relay.ts";

Reflect.set(globalThis, Symbol.for("sandbox.relay"), (options: RelayOptions) => new Relay(options));
