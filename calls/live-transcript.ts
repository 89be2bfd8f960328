/**
 * The live transcript that participants receive: LiveKit's text streams of the topic `lk.transcription`. The user's speech comes as one stream for
 * each interim result, with all text so far; the agent's speech as one stream that grows. Independent of client libraries: browsers and terminals
 * share it.
 */

export const TRANSCRIPT_TOPIC = 'lk.transcription';

export const SEGMENT_ATTRIBUTE = 'lk.segment_id';
export const FINAL_ATTRIBUTE = 'lk.transcription_final';

export interface SpokenLine {
  /** Identifies one utterance; a later line with the same id replaces it. */
  readonly id: string;
  readonly role: 'agent' | 'user';
  readonly text: string;
  /** The line does not change any more. */
  readonly final: boolean;
}

/** A text stream as LiveKit's client libraries have it. */
export interface TextStream extends AsyncIterable<string> {
  readonly info: { readonly attributes?: Readonly<Record<string, string>> };
}

export interface TranscriptSource {
  registerTextStreamHandler(topic: string, handler: (stream: TextStream, from: { readonly identity: string }) => void): void;
}

export interface FollowOptions {
  /** Identity of the user; the words of everybody else are the agent's. */
  readonly userIdentity: string;
  readonly onLine: (line: SpokenLine) => void;
}

/** Calls `onLine` each time that a line grows, and once when it is final. A stream that breaks off leaves its line as it is, final. */
export function followTranscript(source: TranscriptSource, { userIdentity, onLine }: FollowOptions): void {
  let unnamed = 0;
  source.registerTextStreamHandler(TRANSCRIPT_TOPIC, (stream, from) => {
    const { [SEGMENT_ATTRIBUTE]: segment, [FINAL_ATTRIBUTE]: isFinal } = stream.info.attributes ?? {};
    unnamed += segment === undefined ? 1 : 0;
    const line = { id: segment ?? `line ${unnamed}`, role: from.identity === userIdentity ? ('user' as const) : ('agent' as const) };
    const follow = async (): Promise<void> => {
      const text = await readLine(stream, (soFar) => onLine({ ...line, text: soFar, final: false }));
      // An interim result of the user's speech is followed by a better one; an agent has one stream.
      const final = isFinal === 'true' || line.role === 'agent';
      if (final && text.trim() !== '') onLine({ ...line, text, final });
    };
    void follow();
  });
}

/** @returns the whole line, or as much of it as came */
async function readLine(stream: TextStream, onText: (text: string) => void): Promise<string> {
  let text = '';
  try {
    for await (const chunk of stream) {
      text += chunk;
      if (text.trim() !== '') onText(text);
    }
  } catch {
    // The connection broke in the middle of a sentence.
  }
  return text;
}
