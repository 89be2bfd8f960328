/**
 * From a text to the first sound of it: Parley's own voice, as calls use it, against LiveKit's for the same protocol; and requests
 * against a WebSocket, for the same answer of the same provider.
 */
import { initializeLogger, tokenize, tts } from '@livekit/agents';
import { TTS } from '@livekit/agents-plugin-openai';
import { pino } from 'pino';

import { systemClock } from '../../../platform/clock.ts';
import { openEgress } from '../../support/open-egress.ts';
import { createProviderFetch, type ProviderEndpoint } from '../../../calls/provider-access/index.ts';
import { createSpeechSource } from '../../../voice/providers/create-speech-source.ts';
import { createProviders, type CreateProvidersOptions, type SpeechSynthesizer } from '../../../voice/providers/index.ts';
import { ttsProtocolOf } from '../../../voice/providers/provider-table.ts';
import { HttpSpeech } from '../../../voice/providers/tts/http-speech.ts';
import type { SpeechSource } from '../../../voice/providers/tts/speech-source.ts';
import { CASES, endpointAt, type SpeakingCase } from '../../integration/speech-apis/speaking/speaking-cases.ts';
import { startSpeakingServer } from '../../integration/speech-apis/speaking/speaking-server.ts';
import { hastyVoice } from '../../support/hasty-voice.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { synthesizerOf } from '../../support/speech-synthesis.ts';
import { interleave } from '../harness/rounds.ts';
import type { PartResult } from '../harness/run-parts.ts';
import { percentile } from '../harness/stats.ts';
import { duration, type Table } from '../harness/table.ts';

/** What the server takes to begin, and how much faster than real time it goes on. */
const headMs = 50;
const pace = 4;
const text = 'Your bicycle is ready, and you can pick it up from nine in the morning on. Is there anything else that I can do for you?';

interface Turn {
  readonly firstMs: number;
  readonly lastMs: number;
}

export async function benchTts({ rounds }: { readonly rounds: number }): Promise<PartResult> {
  initializeLogger({ pretty: false, level: 'error' });
  const server = await startProviderServer();
  server.speech(() => ({ delayMs: headMs, pace }));
  const egress = openEgress();
  const settings = { provider: 'openai', voice: {}, temperature: 0.5 };
  const providers = await createProviders({
    org: 'bench',
    agent: {
      language: 'en-US',
      llm: { type: 'simple', provider: 'openai', model: 'none', temperature: 0 },
      speechToText: settings,
      textToSpeech: settings,
    },
    keys: { read: async () => 'none' },
    egress,
    defaults: [{ name: 'openai', baseURL: server.url }],
    logger: pino({ level: 'silent' }),
    env: {},
  } as unknown as CreateProvidersOptions);
  // As LiveKit's session wraps a voice that can't stream.
  const stock = new tts.StreamAdapter(new TTS({ apiKey: 'none', baseURL: server.url }), new tokenize.basic.SentenceTokenizer());
  try {
    const turns = await interleave({
      rounds,
      contenders: { own: () => turn(providers.tts), stock: () => stockTurn(stock) },
    });
    const transports = await benchTransports(rounds);
    return { figures: { headMs, pace, text, turns, transports }, tables: [tableOf(turns), tableOfTransports(transports)] };
  } finally {
    await providers.close();
    await stock.close();
    egress.close();
    await server.close();
  }
}

const answer = [
  'Your bicycle is ready, and you can pick it up.',
  'We are open from nine to six, Monday to Friday.',
  'The repair comes to forty euros in all.',
  'You can pay in cash or by card.',
  'Is there anything else that I can do for you?',
].join(' ');

/** Of requests and WebSockets. */
interface Load {
  /** The most at a time. */
  readonly atOnce: number;
  readonly opened: number;
}

type Transports = Readonly<Record<string, { readonly turns: readonly Turn[]; readonly load: Load }>>;

/** The servers' delays are fixed, the same for each; connecting takes no time on this machine, which favours requests. */
async function benchTransports(rounds: number): Promise<Transports> {
  const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  const [elevenLabs, cartesia] = CASES;
  const start = async (row: SpeakingCase, sourceAt: (endpoint: ProviderEndpoint) => SpeechSource) => {
    const server = await startSpeakingServer(row.api);
    // Sound four times as fast as it is heard: 70 ms in each piece.
    Object.assign(server.faults, { firstMs: headMs, pieceMs: 70 / pace });
    const source = sourceAt(endpointAt(server.url, row));
    return { server, voice: synthesizerOf([{ provider: row.name, source }], { clock: systemClock }) };
  };
  const settings = { language: 'en-US', temperature: 0.3, egress, clock: systemClock };
  const requests =
    (oneAtATime: boolean) =>
    (endpoint: ProviderEndpoint): SpeechSource => {
      const { oneAtATime: _one, ...protocol } = ttsProtocolOf({ ...settings, endpoint });
      const fetch = createProviderFetch({ endpoint, egress, clock: systemClock });
      return new HttpSpeech({ provider: 'elevenlabs', protocol: { ...protocol, ...(oneAtATime && { oneAtATime }) }, fetch });
    };
  const socket = (endpoint: ProviderEndpoint): SpeechSource => createSpeechSource({ ...settings, endpoint });
  const contenders = {
    'ElevenLabs, two requests at a time': await start(elevenLabs!, requests(false)),
    'ElevenLabs, one request at a time': await start(elevenLabs!, requests(true)),
    'ElevenLabs, WebSocket': await start(elevenLabs!, socket),
    'Cartesia, WebSocket': await start(cartesia!, socket),
  };
  const entries = Object.entries(contenders);
  const turns = await interleave({
    rounds,
    contenders: Object.fromEntries(entries.map(([name, { voice }]) => [name, () => turn(voice, answer)])),
  });
  const results = entries.map(([name, { server }]) => {
    const load = { atOnce: server.most(), opened: server.opened.length + server.requests.length };
    return [name, { turns: turns[name] ?? [], load }] as const;
  });
  await Promise.all(entries.flatMap(([, { voice, server }]) => [voice.close(), server.stop()]));
  egress.close();
  return Object.fromEntries(results);
}

function tableOfTransports(transports: Transports): Table {
  return {
    title: 'Voice: an answer of five sentences by requests and over a WebSocket',
    columns: ['', 'first sound p50', 'p95', 'last sound p50', 'at once', 'requests and connections in all'],
    rows: Object.entries(transports).map(([name, { turns, load }]) => rowOf(name, turns).concat(String(load.atOnce), String(load.opened))),
    notes: [
      `a server that begins each sentence after ${headMs} ms and sends ${pace} times as fast as it is heard; ${answer.length} characters`,
    ],
  };
}

async function turn(synthesizer: SpeechSynthesizer, said = text): Promise<Turn> {
  const startedAt = performance.now();
  let firstMs: number | undefined;
  const { voice, silent } = hastyVoice(synthesizer, () => (firstMs ??= performance.now() - startedAt));
  voice.say(1, said);
  voice.sayNoMore(1);
  await silent;
  return turnOf(firstMs, startedAt);
}

async function stockTurn(voice: tts.TTS): Promise<Turn> {
  const startedAt = performance.now();
  const stream = voice.stream();
  stream.pushText(text);
  stream.endInput();
  let firstMs: number | undefined;
  for await (const audio of stream) if (typeof audio !== 'symbol') firstMs ??= performance.now() - startedAt;
  return turnOf(firstMs, startedAt);
}

function turnOf(firstMs: number | undefined, startedAt: number): Turn {
  if (firstMs === undefined) throw new Error('nothing was heard');
  return { firstMs, lastMs: performance.now() - startedAt };
}

function tableOf(turns: Readonly<Record<'own' | 'stock', readonly Turn[]>>): Table {
  return {
    title: 'Voice: from the text to its sound',
    columns: ['adapter', 'first sound p50', 'p95', 'last sound p50'],
    rows: [rowOf("Parley's", turns.own), rowOf("LiveKit's for OpenAI", turns.stock)],
    notes: [
      `a server that begins after ${headMs} ms and sends ${pace} times as fast as it is heard; two sentences of ${text.length} characters in all`,
    ],
  };
}

function rowOf(name: string, turns: readonly Turn[]): readonly string[] {
  const firsts = turns.map(({ firstMs }) => firstMs);
  const lasts = turns.map(({ lastMs }) => lastMs);
  return [name, duration(percentile(firsts, 50)), duration(percentile(firsts, 95)), duration(percentile(lasts, 50))];
}
