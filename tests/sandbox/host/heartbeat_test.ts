import assert from "node:assert/strict";
import { Heartbeat } from "../../../src/sandbox/host/_child_link.ts";
import { type Header, ProtocolError } from "../../../src/sandbox/protocol.ts";
import { testSandbox } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/until.ts";

const NOTHING = new Uint8Array(0);

function beat(options: { readonly answer: boolean; readonly idle?: boolean; readonly onSend?: () => void }) {
  const sent: Header[] = [];
  let dead = 0;
  const heart: Heartbeat = new Heartbeat({
    everyMs: 4,
    deadAfterMs: 8,
    isIdle: () => options.idle ?? true,
    onDead: () => dead++,
    send: (header) => {
      sent.push(header);
      options.onSend?.();
      if (options.answer) queueMicrotask(() => heart.receive({ header: { ...header, t: "pong" }, payload: NOTHING }));
    },
  });
  return { heart, sent, dead: () => dead };
}

Deno.test("Heartbeat asks again and again, with another id each time, as long as it is answered", async () => {
  const { heart, sent, dead } = beat({ answer: true });
  await until(() => sent.length >= 3);
  heart.stop();
  assert.ok(sent.every(({ t }) => t === "ping"));
  assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length);
  assert.equal(dead(), 0);
});

Deno.test("Heartbeat reports a missing answer once its time is over", async () => {
  const { heart, sent, dead } = beat({ answer: false });
  await until(() => dead() > 0);
  heart.stop();
  assert.equal(sent.length, 1);
});

Deno.test("Heartbeat is silent while something is asked of the child", async () => {
  const { heart, sent, dead } = beat({ answer: false, idle: false });
  await new Promise((done) => setTimeout(done, 30));
  heart.stop();
  assert.deepEqual([sent, dead()], [[], 0]);
});

Deno.test("Heartbeat does not ask a child that answers other questions, and asks when it no longer does", async () => {
  let heard = performance.now();
  const silent: number[] = [];
  const { heart, sent } = beat({ answer: true, onSend: () => silent.push(performance.now() - heard) });
  const answers = setInterval(() => {
    heard = performance.now();
    heart.heard();
  }, 1);
  await new Promise((done) => setTimeout(done, 40));
  clearInterval(answers);
  const before = sent.length;
  await until(() => sent.length > before);
  heart.stop();
  assert.ok(silent.every((ms) => ms >= 4), `asked ${silent} ms after it was heard`);
});

Deno.test("Heartbeat refuses a pong that it did not ask for", () => {
  const { heart } = beat({ answer: false });
  const header = { t: "pong", id: "0".repeat(32) };
  assert.throws(() => heart.receive({ header, payload: NOTHING }), ProtocolError);
  heart.stop();
});

Deno.test("an idle child that was stopped is found dead and killed", async () => {
  await using box = await testSandbox();
  Deno.kill(box.sandbox.pid, "SIGSTOP");
  await until(() => box.sandbox.ended);
  const { result } = await box.run("1");
  assert.match(result.error?.message ?? "", /no longer answers/);
});
