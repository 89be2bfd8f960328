/**
 * How long a client waits until it hears the agent before it publishes its microphone, in milliseconds. The agent begins to speak once it can hear the
 * user: a client that is slow to receive the agent's sound would lose the beginning of the welcome message. Less than the agent waits for a microphone.
 */
export const AGENT_HEARD_WITHIN_MS = 20_000;
