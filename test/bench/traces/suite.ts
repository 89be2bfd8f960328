/** Measures what traces cost a conversation in text, each turn with a tool, two requests to a model and four spans. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startOtlpReceiver } from '../../support/otlp-receiver.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { progress } from '../harness/progress.ts';
import { benchmark, type PartResult } from '../harness/suite.ts';
import { median } from '../harness/stats.ts';
import type { Table } from '../harness/table.ts';

/** Variables in the environment of the process. */
const MODES = {
  'traces off': {},
  'every trace kept': { traced: 'true' },
  'with what was said': { traced: 'true', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
type Mode = keyof typeof MODES;

const modes = Object.keys(MODES) as readonly Mode[];
const ROUNDS = 5;

export const run = benchmark({
  name: 'traces',
  description: 'processor time of a turn in a conversation without traces, with them, and with what was said',
  parts: { traces: ({ scale }) => measure(scale.turns) },
  full: { turns: 500 },
  quick: { turns: 50 },
  numbers: {},
});

async function measure(turns: number): Promise<PartResult> {
  const measured: Readonly<Record<Mode, number[]>> = { 'traces off': [], 'every trace kept': [], 'with what was said': [] };
  const [provider, collector] = await Promise.all([startProviderServer(), startOtlpReceiver()]);
  provider.chat(({ toolResults }) =>
    toolResults.length > 0
      ? 'It has shipped, and will be with you tomorrow.'
      : { toolCalls: [{ name: 'look_up', arguments: { order: '42' } }] },
  );
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const mode of modes) {
        progress(`${mode}, round ${round + 1}`);
        measured[mode].push(await millisecondsOfATurn(mode, { turns, provider: provider.url, collector: collector.url }));
      }
    }
    return { figures: { millisecondsOfATurn: measured }, tables: [tableOf(measured)] };
  } finally {
    await Promise.all([provider.close(), collector.close()]);
  }
}

const conversation = fileURLToPath(new URL('conversation.ts', import.meta.url));

async function millisecondsOfATurn(
  mode: Mode,
  { turns, provider, collector }: { readonly turns: number; readonly provider: string; readonly collector: string },
): Promise<number> {
  const { traced, ...settings }: { readonly traced?: string } = MODES[mode];
  const env = { ...process.env, ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: traced === undefined ? '' : collector };
  const { stdout } = await promisify(execFile)(process.execPath, [conversation, provider, String(turns)], { env });
  return Number(stdout);
}

function tableOf(measured: Readonly<Record<Mode, readonly number[]>>): Table {
  const off = median(measured['traces off']);
  return {
    title: 'Processor time of a turn in text',
    columns: ['', 'median', 'lowest', 'highest', 'more than off'],
    rows: modes.map((mode) => {
      const all = measured[mode];
      const ms = (value: number): string => `${value.toFixed(2)} ms`;
      return [mode, ms(median(all)), ms(Math.min(...all)), ms(Math.max(...all)), mode === 'traces off' ? '–' : ms(median(all) - off)];
    }),
    notes: [`Of ${ROUNDS} processes each, in turn. A turn has a tool call and two requests to a model; nothing is heard or spoken.`],
  };
}
