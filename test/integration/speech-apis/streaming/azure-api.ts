/** Azure's Speech service, as the documentation of its protocol and its clients have it. */
import type { FakeApi, FakeConnection, FakeSession } from './streaming-server.ts';

const SAMPLE_RATE = 16_000;
const PATH = '/speech/recognition/conversation/cognitiveservices/v1';
const MAX_AUDIO_BYTES = 8_192;
/** Close codes of RFC 6455. */
const PROTOCOL_ERROR = 1002;
const INVALID_PAYLOAD = 1007;
/** The service answers so often while somebody speaks, in seconds of audio. */
const HYPOTHESIS_SECONDS = 0.2;
/** Seconds of silence that end a phrase. */
const PHRASE_PAUSE_SECONDS = 0.5;
/** Seconds of silence after which this API ends a turn by itself; the service waits several times as long. */
const TURN_PAUSE_SECONDS = 1;
/** Milliseconds until the end of a turn is answered. */
const ANSWER_MS = 5;

const ID = /^[0-9a-f]{32}$/i;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,7}Z$/;
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z]+)?-[A-Z]{2}$/;

export const azure: FakeApi = {
  sampleRate: SAMPLE_RATE,
  refuses: ({ path, query }, headers) => {
    if (path !== PATH) return 404;
    const right = LANGUAGE.test(query['language'] ?? '') && ['simple', undefined].includes(query['format']);
    return right && ID.test(String(headers['x-connectionid'])) ? undefined : 400;
  },
  session: (connection) => azureSession(connection),
};

interface Message {
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Turn {
  readonly id: string;
  /** Start of the turn's first audio, in seconds since the connection's. */
  readonly from: number;
  /** End of the turn's last phrase. */
  phraseEnd: number;
  hypothesisAt: number;
  /** Set when the empty message has come, or the service has ended the turn. */
  over: boolean;
}

function azureSession({ listener, send, record, close }: FakeConnection): FakeSession {
  let configured = false;
  /** Ids of all turns, the latest last. */
  const ids: string[] = [];
  const endedByClient = new Set<string>();
  let turn: Turn | undefined;

  const say = ({ id }: Turn, path: string, body?: object): void =>
    send(
      `X-RequestId:${id}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${body === undefined ? '' : JSON.stringify(body)}`,
    );
  const refuse = (code: number): undefined => {
    close(code);
    return undefined;
  };
  const span = ({ from }: Turn, begin: number, end: number) => ({ Offset: ticks(begin - from), Duration: ticks(end - begin) });
  const unsaid = ({ phraseEnd }: Turn) => listener.words.filter(({ seconds }) => seconds > phraseEnd);

  function endPhrase(ending: Turn): void {
    const words = unsaid(ending);
    const end = words.at(-1)?.seconds;
    if (end === undefined) return;
    const DisplayText = words.map(({ word }) => word).join(' ');
    say(ending, 'speech.phrase', { Id: 'p', RecognitionStatus: 'Success', DisplayText, ...span(ending, ending.phraseEnd, end) });
    ending.phraseEnd = end;
  }

  function endTurn(ending: Turn, heard: number): void {
    if (ending.phraseEnd === ending.from && unsaid(ending).length === 0 && heard > ending.from)
      say(ending, 'speech.phrase', { Id: 'p', RecognitionStatus: 'InitialSilenceTimeout', ...span(ending, heard, heard) });
    endPhrase(ending);
    // The service says nothing about a turn without audio.
    say(ending, 'speech.endDetected', heard === ending.from ? undefined : { Offset: ticks(heard - ending.from) });
    if (heard > ending.from) say(ending, 'speech.phrase', { Id: 'p', RecognitionStatus: 'EndOfDictation', ...span(ending, heard, heard) });
    say(ending, 'turn.end', {});
  }

  function beginTurn(id: string, header: Buffer): undefined {
    if (!isHeader(header)) return refuse(INVALID_PAYLOAD);
    ids.push(id);
    turn = { id, from: listener.seconds, phraseEnd: listener.seconds, hypothesisAt: listener.seconds, over: false };
    record({ path: 'audio', turn: ids.length, type: 'audio/x-wav', header: header.toString('latin1') });
    say(turn, 'turn.start', { context: { serviceTag: 't' } });
    return undefined;
  }

  function takeAudio({ headers, body }: Message): Buffer | undefined {
    const id = headers['x-requestid']!;
    if (!configured || endedByClient.has(id)) return refuse(PROTOCOL_ERROR);
    if (body.length > MAX_AUDIO_BYTES) return refuse(INVALID_PAYLOAD);
    // Answers that the service still had about the last turn are dropped.
    if (!ids.includes(id)) return beginTurn(id, body);
    if (turn?.id !== id) return refuse(PROTOCOL_ERROR);
    // The message was on its way when the service ended the turn.
    if (turn.over) return undefined;
    return body.length > 0 ? body : endByClient(turn);
  }

  function endByClient(ending: Turn): undefined {
    ending.over = true;
    record({ path: 'audio', turn: ids.length, empty: true });
    const heard = listener.seconds;
    setTimeout(() => {
      if (turn !== ending) return;
      endTurn(ending, heard);
      endedByClient.add(ending.id);
    }, ANSWER_MS);
    return undefined;
  }

  return {
    audio() {
      if (turn === undefined) return;
      const { seconds, soundSeconds } = listener;
      const pause = seconds - Math.max(turn.from, soundSeconds);
      if (seconds - turn.hypothesisAt >= HYPOTHESIS_SECONDS && unsaid(turn).length > 0) {
        turn.hypothesisAt = seconds;
        const Text = unsaid(turn)
          .map(({ word }) => word)
          .join(' ');
        say(turn, 'speech.hypothesis', { Id: 'h', Text, ...span(turn, turn.phraseEnd, seconds) });
      }
      if (pause >= PHRASE_PAUSE_SECONDS) endPhrase(turn);
      if (pause < TURN_PAUSE_SECONDS) return;
      turn.over = true;
      endTurn(turn, seconds);
    },
    raw(data, binary) {
      const message = parsed(data, binary);
      if (message === undefined) return refuse(INVALID_PAYLOAD);
      const { headers, body } = message;
      const { path, 'x-requestid': id, 'x-timestamp': timestamp = '', 'content-type': type } = headers;
      if (path === undefined || !TIMESTAMP.test(timestamp) || (path !== 'speech.config' && !ID.test(id ?? '')))
        return refuse(PROTOCOL_ERROR);
      if (path === 'audio') return takeAudio(message);
      const json = JSON.parse(body.toString()) as { readonly context?: object };
      if (path === 'speech.config') {
        // `system` and `os` say who the client is, and differ.
        configured = true;
        const { system, os: _os, ...context } = (json.context ?? {}) as Readonly<Record<string, unknown>>;
        if (system === undefined) return refuse(PROTOCOL_ERROR);
        record({ path, type, body: { ...json, context } });
      }
      if (path === 'speech.context') {
        // Azure's client in C++ numbers its streams here and in X-StreamId, to continue them after a lost connection; the one in JavaScript does not.
        const { audio: _audio, ...context } = json as Readonly<Record<string, unknown>>;
        record({ path, type, turn: ids.length + 1, body: context });
      }
      // `telemetry` is optional: Azure's clients can be told not to send it.
      return undefined;
    },
  };
}

const ticks = (seconds: number): number => Math.round(seconds * 10_000_000);

function parsed(data: Buffer, binary: boolean): Message | undefined {
  const length = binary ? data.readUInt16BE(0) : data.indexOf('\r\n\r\n');
  const start = binary ? 2 : 0;
  if (length < 0 || start + length > data.length) return undefined;
  const lines = data
    .subarray(start, start + length)
    .toString()
    .split('\r\n');
  const headers = lines.map((line) => /^([^:]+):\s*(.*)$/.exec(line)).filter((match) => match !== null);
  return {
    headers: Object.fromEntries(headers.map(([, name, value]) => [name!.toLowerCase(), value!])),
    body: data.subarray(start + length + (binary ? 0 : 4)),
  };
}

/** Tells whether a body is a WAV header for 16 kHz, 16 bits, one channel. */
function isHeader(body: Buffer): boolean {
  if (body.length !== 44 || body.toString('latin1', 0, 4) !== 'RIFF' || body.toString('latin1', 8, 16) !== 'WAVEfmt ') return false;
  return body.readUInt16LE(22) === 1 && body.readUInt32LE(24) === SAMPLE_RATE && body.readUInt16LE(34) === 16;
}
