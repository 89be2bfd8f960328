import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { backlog } from './backlog.ts';
import type { PartName } from './command.ts';
import { crashes } from './crashes.ts';
import { startHost, type Host } from './host.ts';
import { hung } from './hung.ts';
import type { Part, Scale } from './part.ts';
import { rate } from './rate.ts';
import { temporal } from './temporal.ts';

export interface WebhooksOptions {
  readonly parts: readonly PartName[];
  readonly scale: Scale;
  /** Where dispatchers leave their CPU profiles. */
  readonly profileFolder?: string;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<PartName, Part>> = { rate, backlog, hung, temporal, crashes };

/** @throws Error when any part failed, or a signal ended the run */
export async function runWebhooks({ parts: names, scale, profileFolder, out }: WebhooksOptions): Promise<void> {
  let starting: Promise<Host> | undefined;
  const host = (): Promise<Host> => (starting ??= startHost({ env: process.env, progress, profileFolder }));
  await runParts({
    benchmark: 'webhooks',
    parts: names,
    run: async (name) => parts[name]({ host: await host(), scale, progress }),
    stop: async () => starting?.then((started) => started.stop()),
    scale,
    out,
  });
}
