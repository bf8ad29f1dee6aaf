import type { OpenRequest, Services, Session } from "../../../src/channels/channel.ts";
import type { Engine } from "../../helpers/engine.ts";
import { type FakeIo, fakeIo, fakeServices } from "./_fakes.ts";

export function engineServices(
  engine: Engine,
  more: Partial<Session> = {},
): { readonly io: FakeIo; readonly services: Services; readonly requests: OpenRequest[] } {
  const requests: OpenRequest[] = [];
  const session = { workspace: "/nowhere", provider: "p", model: "m", database: "", ...more };
  const services = fakeServices({
    open: (request) => {
      requests.push(request);
      return Promise.resolve({ ...session, conversations: engine.conversations, close: () => Promise.resolve() });
    },
  });
  return { io: fakeIo(), services, requests };
}
