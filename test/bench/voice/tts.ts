/** From a text to the first sound of it: Parley's own adapter against LiveKit's for the same protocol, both as a session uses them. */
import { initializeLogger, tokenize, tts, type APIConnectOptions } from '@livekit/agents';
import { TTS } from '@livekit/agents-plugin-openai';
import { pino } from 'pino';

import { createEgress } from '../../../platform/egress/egress.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { createProviders, type CreateProvidersOptions } from '../../../voice/providers/index.ts';
import { interleave } from '../harness/rounds.ts';
import type { PartResult } from '../harness/run-parts.ts';
import { percentile } from '../harness/stats.ts';
import { duration, type Table } from '../harness/table.ts';

/** What the server takes to begin, and how much faster than real time it goes on. */
const headMs = 50;
const pace = 4;
const text = 'Your bicycle is ready, and you can pick it up from nine in the morning on. Is there anything else that I can do for you?';
const connOptions: APIConnectOptions = { maxRetry: 0, retryIntervalMs: 1_000, timeoutMs: 10_000 };

interface Turn {
  readonly firstMs: number;
  readonly lastMs: number;
}

export async function benchTts({ rounds }: { readonly rounds: number }): Promise<PartResult> {
  initializeLogger({ pretty: false, level: 'error' });
  const server = await startProviderServer();
  server.speech(() => ({ delayMs: headMs, pace }));
  const egress = createEgress();
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
      contenders: { own: () => turn(providers.tts), stock: () => turn(stock) },
    });
    return { figures: { headMs, pace, text, turns }, tables: [tableOf(turns)] };
  } finally {
    await providers.close();
    await stock.close();
    egress.close();
    await server.close();
  }
}

async function turn(voice: tts.TTS): Promise<Turn> {
  const startedAt = performance.now();
  const stream = voice.stream({ connOptions });
  stream.pushText(text);
  stream.endInput();
  let firstMs: number | undefined;
  for await (const audio of stream) if (typeof audio !== 'symbol') firstMs ??= performance.now() - startedAt;
  if (firstMs === undefined) throw new Error('nothing was heard');
  return { firstMs, lastMs: performance.now() - startedAt };
}

function tableOf(turns: Readonly<Record<'own' | 'stock', readonly Turn[]>>): Table {
  const row = (name: string, each: readonly Turn[]): readonly string[] => {
    const firsts = each.map(({ firstMs }) => firstMs);
    const lasts = each.map(({ lastMs }) => lastMs);
    return [name, duration(percentile(firsts, 50)), duration(percentile(firsts, 95)), duration(percentile(lasts, 50))];
  };
  return {
    title: 'Voice: from the text to its sound',
    columns: ['adapter', 'first sound p50', 'p95', 'last sound p50'],
    rows: [row("Parley's", turns.own), row("LiveKit's for OpenAI", turns.stock)],
    notes: [
      `a server that begins after ${headMs} ms and sends ${pace} times as fast as it is heard; two sentences of ${text.length} characters in all`,
    ],
  };
}
