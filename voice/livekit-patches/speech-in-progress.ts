/** Of the agent's speeches, which the running code belongs to, and when it is settled what was heard of one. */
import type { voice } from '@livekit/agents';

// The package doesn't export it; its file does, in the bundle too.
import { speechHandleStorage } from '../../node_modules/@livekit/agents/dist/voice/agent.js';

/** In `ttsNode` and where a message is added: the speech that it is of. */
export function currentSpeech(): voice.SpeechHandle | undefined {
  return speechHandleStorage.getStore();
}

/** Resolves when an interrupted speech is silent and its message is kept; its tools may go on. */
export async function settled(speech: voice.SpeechHandle): Promise<void> {
  // One without has never begun.
  if (speech._hasGenerations) await speech._waitForGeneration();
}
