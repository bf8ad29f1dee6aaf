import assert from "node:assert/strict";
import { Cancelled, SandboxEnded } from "../../src/domain/errors.ts";
import type { VariableImage } from "../../src/domain/query/variable.ts";
import { SandboxSession, type SessionSource } from "../../src/environment/sandbox_session.ts";
import type { BlockRun } from "../../src/sandbox/sandbox.ts";
import { dataImage, FakeSandbox, runReport } from "./_fakes.ts";

const BLOCK: BlockRun = { code: "x", iteration: 1, index: 0, deadlineMs: 1000 };

function names(images: readonly VariableImage[]): string[] {
  return images.map(({ name }) => name);
}

function sessionOf(children: readonly (FakeSandbox | Error)[], source: Partial<SessionSource> = {}) {
  const queue = [...children];
  const lost: { name: string; reason: string }[] = [];
  const session = new SandboxSession({
    open: () => {
      const next = queue.shift();
      return next instanceof FakeSandbox ? Promise.resolve(next) : Promise.reject(next ?? new Error("no child left"));
    },
    stored: () => Promise.resolve([]),
    system: () => new Map(),
    onLost: (reports) => void lost.push(...reports.map(({ name, reason }) => ({ name, reason }))),
    ...source,
  });
  return { session, lost, left: () => queue.length };
}

Deno.test("SandboxSession starts one child for all that ask at the same time", async () => {
  const child = new FakeSandbox();
  const { session } = sessionOf([child]);
  assert.equal(session.living, null);
  const ready = await Promise.all([session.ready(), session.ready(), session.run(BLOCK).then(() => session.ready())]);
  assert.ok(ready.every((one) => one === child));
  assert.equal(session.living, child);
});

Deno.test("SandboxSession binds system variables, then restores the stored ones", async () => {
  const child = new FakeSandbox();
  const { session } = sessionOf([child], {
    stored: () => Promise.resolve([dataImage("a", 1), dataImage("b", 2)]),
    system: () => new Map([["$query", "q"], ["$answer", "a"]]),
  });
  await session.ready();
  assert.deepEqual(child.bound, [["$query", "q"], ["$answer", "a"]]);
  assert.deepEqual(names(child.restored), ["a", "b"]);
});

Deno.test("SandboxSession gives a new child the variables of the old one that are not stored yet", async () => {
  const first = new FakeSandbox(() => runReport({ saved: [dataImage("b", 20), dataImage("c", 3)] }));
  const [second, third] = [new FakeSandbox(), new FakeSandbox()];
  let stored = [dataImage("a", 1), dataImage("b", 2), dataImage("gone", 0)];
  const { session } = sessionOf([first, second, third], { stored: () => Promise.resolve(stored) });
  await session.run(BLOCK);
  await session.forget(["gone"]);
  first.ended = true;
  assert.equal(session.living, null);
  await session.ready();
  assert.deepEqual(names(second.restored), ["a", "b", "c"]);
  assert.deepEqual(second.restored[1], dataImage("b", 20));
  assert.equal(first.closed, 1);

  stored = [dataImage("a", 1), dataImage("b", 20), dataImage("c", 3)];
  session.stored(session.unsavedNow);
  second.ended = true;
  await session.ready();
  assert.deepEqual(names(third.restored), ["a", "b", "c"]);
});

Deno.test("SandboxSession.stored() keeps a version that was made while the one before was stored", async () => {
  const [first, second] = [new FakeSandbox(), new FakeSandbox()];
  const { session } = sessionOf([first, second], { stored: () => Promise.resolve([dataImage("a", 1)]) });
  await session.ready();
  session.remember([dataImage("a", 1), dataImage("b", 1)]);
  const stored = session.unsavedNow;
  session.remember([dataImage("a", 2)]);
  session.stored(stored);
  assert.deepEqual([session.unsaved("a"), session.unsaved("b")], [dataImage("a", 2), null]);
});

Deno.test("SandboxSession remembers a restored version, and forgets a version that was forgotten later", async () => {
  const [first, second] = [new FakeSandbox(), new FakeSandbox()];
  const { session } = sessionOf([first, second], { stored: () => Promise.resolve([dataImage("a", 2)]) });
  await session.ready();
  session.remember([dataImage("a", 1), dataImage("b", 1)]);
  await session.forget(["b"]);
  assert.deepEqual(session.unsaved("a"), dataImage("a", 1));
  assert.equal(session.unsaved("b"), null);
  first.ended = true;
  await session.ready();
  assert.deepEqual(second.restored, [dataImage("a", 1)]);
});

Deno.test("SandboxSession reports variables that could not be restored", async () => {
  const gone: VariableImage = { ...dataImage("a", 1), kind: "lost", reason: "a closure" };
  const { session, lost } = sessionOf([new FakeSandbox()], {
    stored: () => Promise.resolve([gone, dataImage("b", 1)]),
  });
  await session.ready();
  assert.deepEqual(lost, [{ name: "a", reason: "a closure" }]);
});

Deno.test("SandboxSession tries again after a start that failed, and closes a child that could not be restored", async () => {
  class Broken extends FakeSandbox {
    override restore(): Promise<never> {
      return Promise.reject(new Error("cannot restore"));
    }
  }
  const [broken, whole] = [new Broken(), new FakeSandbox()];
  const { session } = sessionOf([new Error("no memory"), broken, whole], {
    stored: () => Promise.resolve([dataImage("a", 1)]),
  });
  await assert.rejects(session.run(BLOCK), /no memory/);
  await assert.rejects(session.ready(), /cannot restore/);
  assert.deepEqual([broken.closed, session.living], [1, null]);
  assert.equal(await session.ready(), whole);
});

Deno.test("SandboxSession stop() ends the child and the next use starts another", async () => {
  const [first, second] = [new FakeSandbox(), new FakeSandbox()];
  const { session } = sessionOf([first, second]);
  await session.stop();
  await session.ready();
  await session.stop();
  assert.equal(first.closed, 1);
  assert.equal(await session.ready(), second);
});

function slowly(count: number) {
  const children = Array.from({ length: count }, () => new FakeSandbox());
  const ups = children.map(() => Promise.withResolvers<FakeSandbox>());
  const signals: AbortSignal[] = [];
  const open = (signal: AbortSignal): Promise<FakeSandbox> => {
    signals.push(signal);
    return ups[signals.length - 1]?.promise ?? Promise.reject(new Error("no child left"));
  };
  return { children, signals, open, up: (n: number) => ups[n]?.resolve(children[n]!) };
}

Deno.test("SandboxSession knows whether the child that lives has run a block", async () => {
  const [first, second] = [new FakeSandbox(), new FakeSandbox()];
  const { session } = sessionOf([first, second]);
  assert.equal(session.used, null);
  await session.ready();
  assert.equal(session.used, null);
  await session.run(BLOCK);
  assert.equal(session.used, first);
  first.ended = true;
  assert.equal(session.used, null);
  await session.ready();
  assert.deepEqual([session.living, session.used], [second, null], "whatever the one before it ran");
});

Deno.test("SandboxSession stop() ends a child that is still starting, and the next use starts another", async () => {
  const { children: [first, second], signals, open, up } = slowly(2);
  const { session } = sessionOf([], { open });
  const ready = assert.rejects(session.ready(), SandboxEnded);
  const stopping = session.stop();
  assert.equal(signals[0]?.aborted, true);
  const again = session.ready();
  up(1);
  assert.equal(await again, second);
  up(0); // The child starts late, after it was abandoned.
  await Promise.all([ready, stopping]);
  assert.deepEqual([first?.closed, second?.closed, session.living], [1, 0, second]);
});

Deno.test("SandboxSession stop() ends a child that is being restored or bound", async () => {
  for (const step of ["restore", "bind"] as const) {
    const reached = Promise.withResolvers<void>(), go = Promise.withResolvers<void>();
    class Slow extends FakeSandbox {
      override async restore(...args: Parameters<FakeSandbox["restore"]>): ReturnType<FakeSandbox["restore"]> {
        return await this.#at("restore", () => super.restore(...args));
      }
      override async bind(...args: Parameters<FakeSandbox["bind"]>): Promise<void> {
        await this.#at("bind", () => super.bind(...args));
      }
      async #at<T>(here: string, work: () => Promise<T>): Promise<T> {
        if (here === step) {
          reached.resolve();
          await go.promise;
        }
        return await work();
      }
    }
    const child = new Slow();
    const { session } = sessionOf([child], {
      stored: () => Promise.resolve([dataImage("a", 1)]),
      system: () => new Map([["$query", "q"]]),
    });
    const ready = assert.rejects(session.ready(), SandboxEnded);
    await reached.promise;
    const stopped = session.stop();
    go.resolve();
    await Promise.all([ready, stopped]);
    assert.deepEqual([child.ended, session.living], [true, null], step);
  }
});

Deno.test("SandboxSession ends a child whose variables cannot be read", async () => {
  const { children: [child], open, up } = slowly(1);
  const { session } = sessionOf([], { open, stored: () => Promise.reject(new Error("cannot read")) });
  const ready = assert.rejects(session.ready(), /cannot read/);
  up(0);
  await ready;
  assert.deepEqual([child?.closed, session.living], [1, null]);
});

Deno.test("SandboxSession close() waits for a child that is being stopped", async () => {
  const reaped = Promise.withResolvers<void>();
  class Slow extends FakeSandbox {
    override async close(): Promise<void> {
      await reaped.promise;
      await super.close();
    }
  }
  const child = new Slow();
  const { session } = sessionOf([child]);
  await session.ready();
  const stopping = session.stop();
  let closed = false;
  const closing = session.close().then(() => closed = true);
  await Promise.resolve();
  assert.equal(closed, false);
  reaped.resolve();
  await Promise.all([stopping, closing]);
  assert.equal(child.ended, true);
});

Deno.test("SandboxSession close() ends the child, even while it starts, and starts no other", async () => {
  const first = new FakeSandbox();
  const opening = Promise.withResolvers<FakeSandbox>();
  const { session } = sessionOf([], { open: () => opening.promise });
  const ready = assert.rejects(session.ready(), Cancelled);
  const closing = session.close();
  opening.resolve(first);
  await Promise.all([ready, closing]);
  assert.ok(first.closed >= 1);
  await assert.rejects(session.run(BLOCK), Cancelled);
  assert.equal(session.living, null);
});
