/** The commands that Telegram offers after "/". */
export const COMMAND_LIST = [
  { command: "new", description: "begin a new conversation" },
  { command: "fork", description: "go on in a copy; /fork 2 without the last two questions" },
  { command: "cancel", description: "end the answer that is being made" },
  { command: "model", description: "show the models, or choose one: /model NAME" },
  { command: "usage", description: "what this conversation has taken" },
  { command: "help", description: "what this bot does" },
] as const;
