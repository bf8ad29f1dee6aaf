import type { ProviderAdmin } from "../../../src/channels/channel.ts";

export function fakeAdmin(admin: Partial<ProviderAdmin>): ProviderAdmin {
  const never = (): never => {
    throw new TypeError("This was not to be asked");
  };
  return {
    providers: never,
    models: never,
    refreshModels: never,
    keys: never,
    loginNames: never,
    loginChoices: never,
    tryKey: never,
    loginKind: never,
    keyPage: () => "",
    tryServer: never,
    addServer: never,
    saveKey: never,
    deviceLogin: never,
    logout: never,
    ...admin,
  };
}
