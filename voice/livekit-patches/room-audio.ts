/**
 * Connects a session's audio and subtitles to a room, with the user's audio in exactly the windows that the VAD reads.
 * LiveKit's default, 10 ms at 24 kHz, is resampled and cut for the VAD, twice for each call: a quarter of the CPU of a call (docs/adr/0028).
 */
import { voice } from '@livekit/agents';
import { AudioStream, type Room, type Track } from '@livekit/rtc-node';

import { untilAborted } from '../../platform/until-aborted.ts';
import { replayAfterPauses, type PausableOutput } from './paused-sound.ts';

/** Of Silero, in Hz. */
export const USER_SAMPLE_RATE = 16_000;
/** Silero's window of 512 samples, in milliseconds. */
export const USER_FRAME_MS = 32;

/** The parts of a `RoomIO` in use; its type hides them. */
interface RoomSound {
  readonly audioInput: { createStream: (track: Track) => ReadableStream };
  readonly participantAudioOutput: PausableOutput & {
    start: (signal: AbortSignal) => Promise<void>;
    readonly startedFuture: { readonly done: boolean; resolve: () => void };
  };
}

/**
 * Before `session.start`. Given the room itself, a session would also publish its tools with their arguments and results to every participant,
 * and its prompt on request.
 */
export function joinRoom(session: voice.AgentSession, room: Room, participantIdentity: string): void {
  const roomIO = new voice.RoomIO({
    agentSession: session,
    room,
    inputOptions: { participantIdentity, audioSampleRate: USER_SAMPLE_RATE, closeOnDisconnect: false, textEnabled: false },
    outputOptions: {},
  });
  session._roomIO = roomIO;
  roomIO.start();
  const { audioInput, participantAudioOutput: output } = roomIO as unknown as RoomSound;
  audioInput.createStream = (track) => new AudioStream(track, { sampleRate: USER_SAMPLE_RATE, numChannels: 1, frameSizeMs: USER_FRAME_MS });
  replayAfterPauses(output);
  // It waits for a listener, whatever the signal says, and the end of the session waits for it.
  const start = output.start.bind(output);
  output.start = (signal) =>
    untilAborted(start(signal), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
}

/** LiveKit says nothing before someone listens, and holds the session until then: a user who never does would be in a call without an end. */
export function speakToNobody(session: voice.AgentSession): void {
  const { startedFuture } = (session._roomIO as unknown as RoomSound).participantAudioOutput;
  if (!startedFuture.done) startedFuture.resolve();
}
