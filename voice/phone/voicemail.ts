/** Whether a machine has answered a call that went out: nobody talks to a tape. */
import { voice } from '@livekit/agents';

import type { Logger } from '../../platform/logging.ts';

export interface VoicemailOptions {
  readonly session: voice.AgentSession;
  /** Who was rung. */
  readonly identity: string;
  /** How long it is listened for, in milliseconds; 0 for not at all. */
  readonly timeoutMs: number;
  /** A tape, or a voice that says that nobody can be reached. Told once at most. */
  readonly onMachine: () => void;
  readonly logger: Logger;
}

/** People say hello, and tapes begin at once: who is silent for so long is spoken to, in milliseconds. */
const silenceMs = 2_500;

/** A menu that asks for keys is somebody's reception, and is talked to. */
const machines: ReadonlySet<voice.AMDCategory> = new Set([voice.AMDCategory.MACHINE_VM, voice.AMDCategory.MACHINE_UNAVAILABLE]);

/**
 * Listens along from the moment at which the call is answered, with the ears and the mind of the agent. The agent says nothing
 * until it is clear who is there.
 * @returns stops listening; idempotent
 */
export function listenForVoicemail({ session, identity, timeoutMs, onMachine, logger }: VoicemailOptions): () => void {
  if (timeoutMs <= 0) return () => undefined;
  const detection = new voice.AMD(session, {
    llm: null,
    stt: null,
    participantIdentity: identity,
    detectionTimeoutMs: timeoutMs,
    noSpeechTimeoutMs: Math.min(timeoutMs, silenceMs),
    waitUntilFinished: false,
    suppressCompatibilityWarning: true,
  });
  let stopped = false;
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    detection.aclose().catch((err: unknown) => logger.warn({ err }, 'listening for a machine could not be stopped'));
  };
  const judge = async (): Promise<void> => {
    try {
      const { category, delayMs } = await detection.execute();
      if (stopped) return;
      logger.info({ category, delayMs }, 'who answered was judged');
      if (machines.has(category)) onMachine();
    } catch (err) {
      // A conversation with a machine is better than none with a person.
      if (!stopped) logger.warn({ err }, 'whether a machine answered could not be told');
    } finally {
      stop();
    }
  };
  void judge();
  return stop;
}
