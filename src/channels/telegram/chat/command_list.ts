/** The commands that Telegram offers after "/". */
export const COMMAND_LIST = [
  { command: "new", description: "begin a new conversation" },
  { command: "fork", description: "continue in a copy; /fork 2 leaves out the last two requests" },
  { command: "cancel", description: "stop the current request" },
  { command: "model", description: "show the models, or choose one: /model NAME" },
  { command: "usage", description: "tokens and cost of this conversation" },
  { command: "help", description: "what this bot can do" },
] as const;
