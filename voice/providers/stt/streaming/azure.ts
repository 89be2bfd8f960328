/**
 * Azure's Speech service on its WebSocket. Audio goes in turns: each has a request id, begins with a WAV header, and is ended by an empty message
 * (a flush) or by the service (after long silence). Audio of a new turn makes the service drop what it still has to say about the last one: it waits
 * for `turn.end`.
 * https://docs.microsoft.com/azure/cognitive-services/speech/api-reference-rest/websocketprotocol
 */
import { randomUUID } from 'node:crypto';

import { wavHeader } from '../../../../platform/wav.ts';
import { requireApiKey } from '../../../../calls/provider-access/index.ts';
import { asNumber, asText, at, azureAddressMissing, socketUrl } from '../../protocol-support.ts';
import { keywordsFor, type SttSettings } from '../stt-protocols.ts';
import type { SocketMessage, SttStreamEvent, SttStreaming, SttStreamSession } from './protocol.ts';

const SAMPLE_RATE = 16_000;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
/** Longest body of an audio message, in bytes. */
const MAX_AUDIO_BYTES = 8_192;
/** Units of `Offset` and `Duration` in a second: they are of 100 ns. */
const TICKS_PER_SECOND = 10_000_000;
/** Length of a pause's end, in seconds, that may go unheard without losing a word: a flush follows a pause. */
const PAUSE_SECONDS = 0.25;

/** A header without lengths, as Azure's own clients send it. */
const HEADER = wavHeader({ sampleRate: SAMPLE_RATE, dataBytes: 0 }).fill(0, 4, 8);
const CONFIG = {
  context: {
    system: { name: 'Parley', version: '1.0.0', build: 'Node.js', lang: 'TypeScript' },
    audio: { source: { type: 'Stream', model: '', samplerate: String(SAMPLE_RATE), bitspersample: '16', channelcount: '1' } },
  },
};

/** Streams to Azure. @throws ProviderError `refused` without an address or a key */
export function azureStreaming(settings: SttSettings): SttStreaming {
  const { endpoint, language } = settings;
  const { baseURL } = endpoint;
  if (baseURL === undefined) throw azureAddressMissing(endpoint, 'https://westeurope.stt.speech.microsoft.com', 'speechToText');
  const key = requireApiKey(endpoint);
  return {
    model: 'azure',
    // The newer /stt/speech/universal/v2 is missing from Azure's containers.
    url: socketUrl(baseURL, '/speech/recognition/conversation/cognitiveservices/v1', { language, format: 'simple' }),
    // Each connection has an id of its own.
    get headers() {
      return { 'ocp-apim-subscription-key': key, 'x-connectionid': newId() };
    },
    sampleRate: SAMPLE_RATE,
    // "If you don't receive a turn.end message, assume that the state of the service connection is invalid."
    answersEveryFlush: true,
    session: () => azureSession(contextOf(language, keywordsFor(settings, 'azure'))),
  };
}

/** Builds what each turn says of itself: its language, and the phrases to expect. */
const contextOf = (language: string, phrases: readonly string[]): object => ({
  phraseDetection: { language },
  ...(phrases.length > 0 && { dgi: { Groups: [{ Type: 'Generic', Items: phrases.map((phrase) => ({ Text: phrase })) }], bias: 1 } }),
});

interface Turn {
  readonly id: string;
  /** Bytes of audio that were sent. */
  bytes: number;
  /** End of the last recognised phrase, in seconds. */
  phrasesEnd: number;
  /** True once the empty message was sent. */
  flushed: boolean;
}

function azureSession(phraseContext: object): SttStreamSession {
  let turn: Turn | undefined;

  /** Returns the turn under way, or a new one with the messages that begin it. */
  const openTurn = (): { readonly turn: Turn; readonly messages: readonly SocketMessage[] } => {
    if (turn !== undefined) return { turn, messages: [] };
    turn = { id: newId(), bytes: 0, phrasesEnd: 0, flushed: false };
    const context = textMessage({ Path: 'speech.context', 'X-RequestId': turn.id }, phraseContext);
    return { turn, messages: [context, audioMessage(turn.id, HEADER, { 'Content-Type': 'audio/x-wav' })] };
  };

  /**
   * Ends a turn. At `ready` the stream sends again what no final covers: audio that was held back, or that came after the service had
   * ended the turn.
   */
  const turnEnded = ({ bytes, phrasesEnd, flushed }: Turn): readonly SttStreamEvent[] => {
    const seconds = bytes / BYTES_PER_SECOND;
    const ready = { type: 'ready' } as const;
    // The service recognised nothing: it would recognise nothing in the same audio again.
    if (phrasesEnd === 0) return [flushed ? { type: 'flushed' } : { type: 'final', text: '', upToSeconds: seconds }, ready];
    // The service may have ended the turn while the empty message was on its way.
    return flushed && seconds - phrasesEnd <= PAUSE_SECONDS ? [{ type: 'flushed' }, ready] : [ready];
  };

  return {
    begin: () => [textMessage({ Path: 'speech.config', 'Content-Type': 'application/json' }, CONFIG)],
    audio(pcm) {
      // The audio is held back: the stream keeps it, and sends it at `ready`.
      if (turn?.flushed === true) return [];
      const open = openTurn();
      open.turn.bytes += pcm.length;
      return [...open.messages, ...piecesOf(pcm).map((piece) => audioMessage(open.turn.id, piece))];
    },
    flush() {
      if (turn?.flushed === true) return [];
      const open = openTurn();
      open.turn.flushed = true;
      return [...open.messages, audioMessage(open.turn.id, new Uint8Array(0))];
    },
    end: () => [],
    read(received) {
      const { path, requestId, body } = parsed(received);
      if (turn === undefined || requestId !== turn.id) return [];
      if (path === 'speech.hypothesis' || path === 'speech.fragment') return [{ type: 'interim', text: asText(at(body, 'Text')) ?? '' }];
      if (path === 'speech.phrase') {
        const event = phraseEvent(body);
        if (event?.type === 'final') turn.phrasesEnd = Math.max(turn.phrasesEnd, event.upToSeconds ?? 0);
        return event === undefined ? [] : [event];
      }
      if (path !== 'turn.end') return [];
      const ended = turn;
      turn = undefined;
      return turnEnded(ended);
    },
  };
}

function phraseEvent(phrase: unknown): SttStreamEvent | undefined {
  const upToSeconds = (ticks(at(phrase, 'Offset')) + ticks(at(phrase, 'Duration'))) / TICKS_PER_SECOND;
  switch (at(phrase, 'RecognitionStatus')) {
    case undefined:
      return undefined;
    case 'Success':
      return { type: 'final', text: asText(at(phrase, 'DisplayText')) ?? '', upToSeconds };
    case 'NoMatch':
    case 'InitialSilenceTimeout':
    case 'BabbleTimeout':
    case 'EndOfDictation':
      return { type: 'final', text: '', upToSeconds };
    case 'BadRequest':
    case 'Forbidden':
      return { type: 'failed', kind: 'refused', message: 'refuses to recognise speech: check its language, and what the key may do' };
    default:
      return { type: 'failed', kind: 'runtime', message: 'reports an error' };
  }
}

const ticks = (value: unknown): number => asNumber(value) ?? 0;
const newId = (): string => randomUUID().replaceAll('-', '');

const headLines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries({ ...headers, 'X-Timestamp': new Date().toISOString() })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const textMessage = (headers: Readonly<Record<string, string>>, body: object): string => `${headLines(headers)}\r\n${JSON.stringify(body)}`;

function audioMessage(id: string, audio: Uint8Array, headers: Readonly<Record<string, string>> = {}): Uint8Array {
  const head = Buffer.from(headLines({ Path: 'audio', 'X-RequestId': id, ...headers }));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(head.length);
  return Buffer.concat([length, head, audio]);
}

const piecesOf = (pcm: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(pcm.length / MAX_AUDIO_BYTES) }, (_, n) => pcm.subarray(n * MAX_AUDIO_BYTES, (n + 1) * MAX_AUDIO_BYTES));

interface Received {
  readonly path?: string | undefined;
  readonly requestId?: string | undefined;
  readonly body?: unknown;
}

/** Parses a message. @param received header lines, an empty line and JSON */
function parsed(received: unknown): Received {
  if (typeof received !== 'string') return {};
  const [head = '', ...body] = received.split('\r\n\r\n');
  const header = (name: string): string | undefined => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1]?.trim();
  const message = { path: header('Path'), requestId: header('X-RequestId')?.toLowerCase() };
  try {
    return { ...message, body: JSON.parse(body.join('\r\n\r\n')) };
  } catch {
    return message;
  }
}
