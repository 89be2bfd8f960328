/**
 * What is said in a call, as participants are told while it is said: LiveKit's text streams of the topic `lk.transcription`.
 * What the user says comes as a stream for each guess, with everything heard so far; what the agent says as one stream that grows.
 * Knows no client library, so that browsers and terminals read it alike.
 */

export const TRANSCRIPT_TOPIC = 'lk.transcription';

const SEGMENT_ATTRIBUTE = 'lk.segment_id';
const FINAL_ATTRIBUTE = 'lk.transcription_final';

export interface SpokenLine {
  /** Of one stretch of speech; a line that is told again replaces what it was. */
  readonly id: string;
  readonly role: 'agent' | 'user';
  readonly text: string;
  /** Nothing more comes of it. */
  readonly final: boolean;
}

/** As the official clients have it. */
export interface TextStream extends AsyncIterable<string> {
  readonly info: { readonly attributes?: Readonly<Record<string, string>> };
}

export interface TranscriptSource {
  registerTextStreamHandler(topic: string, handler: (stream: TextStream, from: { readonly identity: string }) => void): void;
}

export interface FollowOptions {
  /** Whose words are the user's; everybody else's are the agent's. */
  readonly userIdentity: string;
  readonly onLine: (line: SpokenLine) => void;
}

/** Tells of every line, each time it grows and once when it is final. A stream that breaks off leaves its line as it stands, final. */
export function followTranscript(source: TranscriptSource, { userIdentity, onLine }: FollowOptions): void {
  let unnamed = 0;
  source.registerTextStreamHandler(TRANSCRIPT_TOPIC, (stream, from) => {
    const { [SEGMENT_ATTRIBUTE]: segment, [FINAL_ATTRIBUTE]: isFinal } = stream.info.attributes ?? {};
    unnamed += segment === undefined ? 1 : 0;
    const line = { id: segment ?? `line ${unnamed}`, role: from.identity === userIdentity ? ('user' as const) : ('agent' as const) };
    const follow = async (): Promise<void> => {
      const text = await readLine(stream, (soFar) => onLine({ ...line, text: soFar, final: false }));
      // A guess of what the user says is followed by a better one; an agent's stream is all there is.
      const final = isFinal === 'true' || line.role === 'agent';
      if (final && text.trim() !== '') onLine({ ...line, text, final });
    };
    void follow();
  });
}

/** @returns all of it, or as much as came */
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
