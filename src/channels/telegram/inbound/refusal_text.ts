import type { ChatPlace } from "./incoming.ts";

/** What somebody hears who is not on the list: what whoever runs the bot has to type. */
export function refusalText(userId: number, place: ChatPlace): string {
  const own = `This bot answers only those it knows. Your id is ${userId}; whoever runs it lets you in with:\n` +
    `vis telegram allow ${userId}`;
  if (!place.group) return own;
  return `${own}\nor everybody in this group, whose id is ${place.id}, with:\nvis telegram allow ${place.id}`;
}
