/**
 * Writes both sides' words for those who read along: text streams of LiveKit's topic for transcriptions. The user's words come as a whole
 * each time that they are known better, the agent's as they are heard.
 */
import type { Room, TextStreamWriter } from '@livekit/rtc-node';

import type { Logger } from '../../platform/logging.ts';
import { FINAL_ATTRIBUTE, SEGMENT_ATTRIBUTE, TRANSCRIPT_TOPIC, type SpokenLine } from '../../calls/live-transcript.ts';

export interface SubtitlesOptions {
  readonly room: Room;
  readonly userIdentity: string;
  /** True if nobody but the user may read along. */
  readonly onlyForUser: boolean;
  readonly logger: Logger;
  /** Called with each line as it grows. */
  readonly onLine?: (line: SpokenLine) => void;
}

interface OpenStream {
  readonly writer: Promise<TextStreamWriter>;
  written: number;
}

export class Subtitles {
  readonly #options: SubtitlesOptions;
  readonly #streams = new Map<number, OpenStream>();
  /** Number of the user's present line. */
  #segment = 1;
  /** Words of that line, while they may still change. */
  #interim = '';
  /** Keeps what is written in order. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: SubtitlesOptions) {
    this.#options = options;
  }

  user(text: string, final: boolean): void {
    if (text.trim() === '') return;
    const id = `user-${this.#segment}`;
    this.#interim = final ? '' : text;
    if (final) this.#segment += 1;
    this.#options.onLine?.({ id, role: 'user', text, final });
    this.#write(async () => {
      const writer = await this.#open(this.#options.userIdentity, id, final);
      await writer.write(text);
      await writer.close();
    });
  }

  /** Takes the user's words as they are known: their next words have a line of their own. */
  takeInterim(): void {
    this.user(this.#interim, true);
  }

  /** Writes the agent's words. @param text heard so far of the speech @param final nothing more is heard of it */
  agent(speech: number, text: string, final: boolean): void {
    const { room } = this.#options;
    const stream = this.#streams.get(speech);
    if (stream === undefined && (text === '' || room.localParticipant === undefined)) return;
    const open = stream ?? { writer: this.#open(room.localParticipant!.identity, `agent-${speech}`, false), written: 0 };
    this.#streams.set(speech, open);
    const added = text.slice(open.written);
    open.written = text.length;
    if (final) this.#streams.delete(speech);
    this.#options.onLine?.({ id: `agent-${speech}`, role: 'agent', text, final });
    this.#write(async () => {
      const writer = await open.writer;
      if (added !== '') await writer.write(added);
      if (final) await writer.close();
    });
  }

  #open(senderIdentity: string, segment: string, final: boolean): Promise<TextStreamWriter> {
    const { localParticipant } = this.#options.room;
    if (localParticipant === undefined) return Promise.reject(new Error('the room is left'));
    const attributes = { [SEGMENT_ATTRIBUTE]: segment, [FINAL_ATTRIBUTE]: String(final) };
    const { userIdentity, onlyForUser } = this.#options;
    return localParticipant.streamText({
      topic: TRANSCRIPT_TOPIC,
      senderIdentity,
      attributes,
      ...(onlyForUser && { destinationIdentities: [userIdentity] }),
    });
  }

  #write(write: () => Promise<void>): void {
    const { room, logger } = this.#options;
    this.#writing = this.#writing.then(write).catch((err: unknown) => {
      if (room.isConnected) logger.debug({ err }, 'failed to publish what is said');
    });
  }
}
