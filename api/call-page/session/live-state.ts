/** The state of a conversation that goes on, as the events of its call have it. */
export interface LiveState {
  readonly agent: 'listening' | 'thinking' | 'speaking';
  readonly muted: boolean;
  readonly held: boolean;
  readonly taken_over: boolean;
}

/** Returns the state in words; undefined stands for one that isn't known yet. */
export function liveStateText(state: LiveState | undefined): string {
  if (state === undefined) return 'Live';
  if (state.taken_over) return 'A person speaks in place of the agent';
  if (state.held) return 'The caller is on hold';
  if (state.muted) return 'The agent is muted';
  return `The agent is ${state.agent}`;
}
