/** Other tabs of this server in the same browser. */
const others = new BroadcastChannel("vis");

/** Tells them that a conversation has changed, is new or was deleted. */
export function tellTabs(): void {
  others.postMessage({ changed: true });
}

/** Calls `changed` whenever one of them tells it. */
export function onTabs(changed: () => void): void {
  others.addEventListener("message", changed);
}
