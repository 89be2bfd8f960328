/** Voicemail detection for outbound calls. */
import { voice } from '@livekit/agents';

import type { Logger } from '../../platform/logging.ts';

export interface VoicemailOptions {
  readonly session: voice.AgentSession;
  /** Of the callee. */
  readonly identity: string;
  /** How long detection listens, in milliseconds; 0 for not at all. */
  readonly timeoutMs: number;
  /** Voicemail, or an announcement that the callee is unavailable. Called once at most. */
  readonly onMachine: () => void;
  readonly logger: Logger;
}

/** People say hello and recordings start at once: a silent callee is spoken to after this time, in milliseconds. */
const SILENCE_MS = 2_500;

/** Not an IVR menu: the agent talks to that. */
const VOICEMAIL: ReadonlySet<voice.AMDCategory> = new Set([voice.AMDCategory.MACHINE_VM, voice.AMDCategory.MACHINE_UNAVAILABLE]);

/**
 * Listens from the moment at which the call is answered, with the agent's STT and LLM. The agent says nothing until it is clear who answered.
 * @returns stops listening; idempotent
 */
export function listenForVoicemail({ session, identity, timeoutMs, onMachine, logger }: VoicemailOptions): () => void {
  if (timeoutMs <= 0) return () => undefined;
  const detection = new voice.AMD(session, {
    llm: null,
    stt: null,
    participantIdentity: identity,
    detectionTimeoutMs: timeoutMs,
    noSpeechTimeoutMs: Math.min(timeoutMs, SILENCE_MS),
    waitUntilFinished: false,
    // It would silence the agent before a menu, too.
    interruptOnMachine: false,
    suppressCompatibilityWarning: true,
  });
  let stopped = false;
  // Before the agent may speak again: nothing is to be on the tape.
  detection.on('amd_prediction', ({ category, delayMs }) => {
    if (stopped) return;
    logger.info({ category, delayMs }, 'voicemail detection has decided');
    if (!VOICEMAIL.has(category)) return;
    session.interrupt({ force: true }).await.catch(() => undefined);
    onMachine();
  });
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    detection.aclose().catch((err: unknown) => logger.warn({ err }, 'failed to stop voicemail detection'));
  };
  void detection
    .execute()
    // A conversation with a machine is better than none with a person.
    .catch((err: unknown) => stopped || logger.warn({ err }, 'voicemail detection failed; going on as with a person'))
    .finally(stop);
  return stop;
}
