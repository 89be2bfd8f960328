/** The realtime model of a simulated call, with the providers to which the call falls back: their code is that of real calls. */
import { pino } from 'pino';

import { ProviderOrder } from '../../calls/fallback/provider-order.ts';
import { ModelQuirks, type ProviderSocket } from '../../calls/provider-access/index.ts';
import type { AnswerSource } from '../../voice/conversation/ports.ts';
import { LanguageModel } from '../../voice/providers/llm/language-model.ts';
import { HedgedLanguageModel } from '../../voice/providers/llm/hedged-language-model.ts';
import type { AnswerRequest } from '../../voice/providers/llm/history.ts';
import { providerFailureOf } from '../../voice/providers/provider-errors.ts';
import { RealtimeModel } from '../../voice/providers/realtime/realtime-model.ts';
import type { SttProvider } from '../../voice/providers/stt/streaming/streamed-recognition.ts';
import type { FakeClock } from './fake-clock.ts';
import { FakeRealtime, type FakeRealtimeOptions, type RealtimeQuestion } from './fake-realtime.ts';
import { events, finish, says } from './model-answers.ts';
import { recognizerOf } from './speech-recognition.ts';
import type { WordSound } from './word-sound.ts';

export interface RealtimeScript extends Pick<FakeRealtimeOptions, 'answer' | 'transcribesMs' | 'beta'> {
  /** Answers of the language model to which the call falls back. */
  readonly fallback?: (messages: readonly { readonly role: string; readonly content: string }[]) => string;
}

/** Sample rate of simulated sound, in Hz: a resampler would blur which words it says. */
const SAMPLE_RATE = 16_000;
const ENDPOINT = { protocol: 'openai', guarded: false, baseURL: 'http://realtime/v1' } as const;

export class SimulatedRealtime {
  readonly model: AnswerSource;
  readonly recognizer: ReturnType<typeof recognizerOf>;
  /** Connections to the realtime model. */
  readonly servers: FakeRealtime[] = [];
  /** What each answer was asked with. */
  readonly histories: AnswerRequest['history'][] = [];
  /** Number of requests to the language model to which the call falls back. */
  fallbacks = 0;
  #drop: () => void = () => undefined;

  constructor(
    script: RealtimeScript,
    { sound, clock, ears }: { readonly sound: WordSound; readonly clock: FakeClock; readonly ears: SttProvider },
  ) {
    const { fallback = () => 'I go on.', ...played } = script;
    const hear = (pcm: Buffer): string => sound.wordsIn(new Int16Array(new Uint8Array(pcm).buffer)).join(' ');
    const realtime = new RealtimeModel({
      endpoint: { part: 'llm', provider: 'openai', model: 'gpt-realtime', apiKey: 'k', ...ENDPOINT },
      transcriptionModel: 'gpt-4o-mini-transcribe',
      language: 'en-US',
      keywords: [],
      clock,
      connect: async () => {
        const socket = socketTo((send, drop) => new FakeRealtime({ ...played, clock, hear, send, drop }));
        this.servers.push(socket.server);
        this.#drop = socket.drop;
        return socket;
      },
    });
    const pipeline = new LanguageModel({
      endpoint: { part: 'llm', provider: 'pipeline', model: 'm', ...ENDPOINT },
      quirks: new ModelQuirks(),
      clock,
      fetch: async (_url, { body } = {}) => {
        this.fallbacks += 1;
        const { messages } = JSON.parse(body as string) as { messages: { role: string; content: string }[] };
        return new Response(events(says(fallback(messages)), finish('stop')));
      },
    });
    const logger = pino({ level: 'silent' });
    const failureOf = (rejection: unknown) => providerFailureOf(rejection, 'llm');
    const models = new ProviderOrder({ part: 'llm', providers: [pipeline], restMs: 30_000, failureOf, clock, logger });
    const both = new HedgedLanguageModel({ models, clock, logger }).withFirst(realtime);
    const { recognizer } = realtime;
    this.recognizer = recognizerOf([{ ...recognizer, streaming: plain(recognizer.streaming) }, ears], { clock });
    this.model = {
      answer: (request, signal) => {
        this.histories.push(request.history);
        return both.answer(request, signal);
      },
    };
  }

  /** The connection of the moment. */
  get server(): FakeRealtime {
    return this.servers.at(-1)!;
  }

  get questions(): readonly RealtimeQuestion[] {
    return this.servers.flatMap(({ questions }) => questions);
  }

  /** Loses the connection. */
  drop(): void {
    this.#drop();
  }
}

/** Has the server hear the rate of the simulated sound. */
const plain = (streaming: SttProvider['streaming']): SttProvider['streaming'] => ({
  ...streaming,
  sampleRate: SAMPLE_RATE,
  session: () => {
    const session = streaming.session();
    return { ...session, begin: () => (session.begin?.() ?? []).map((message) => String(message).replace('24000', String(SAMPLE_RATE))) };
  },
});

function socketTo(serve: (send: (event: object) => void, drop: () => void) => FakeRealtime): ProviderSocket & {
  readonly server: FakeRealtime;
  readonly drop: () => void;
} {
  const received: string[] = [];
  let next = Promise.withResolvers<void>();
  let closed = false;
  const close = (): void => {
    closed = true;
    server.close();
    next.resolve();
  };
  const send = (event: object): void => {
    received.push(JSON.stringify(event));
    next.resolve();
  };
  const server = serve(send, () => close());
  return {
    server,
    drop: close,
    close,
    send: (message) => {
      if (!closed) server.receive(JSON.parse(String(message)) as Readonly<Record<string, unknown>>);
    },
    async *messages() {
      while (!closed) {
        await next.promise;
        next = Promise.withResolvers<void>();
        for (const message of received.splice(0)) if (!closed) yield message;
      }
    },
  };
}
