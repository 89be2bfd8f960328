import { progress } from '../harness/progress.ts';
import { runParts } from '../harness/run-parts.ts';
import { backlog } from './backlog.ts';
import type { WebhooksPartName } from './command.ts';
import { crashes } from './crashes.ts';
import { startHost, type WebhooksHost } from './host.ts';
import { hung } from './hung.ts';
import type { WebhooksPart, WebhooksScale } from './part.ts';
import { rate } from './rate.ts';
import { temporal } from './temporal.ts';

export interface WebhooksOptions {
  readonly parts: readonly WebhooksPartName[];
  readonly scale: WebhooksScale;
  /** Where dispatchers leave their CPU profiles. */
  readonly profileFolder?: string;
  /** Path of the JSON. */
  readonly out?: string;
}

const parts: Readonly<Record<WebhooksPartName, WebhooksPart>> = { rate, backlog, hung, temporal, crashes };

/** @throws Error when any part failed, or a signal ended the run */
export async function runWebhooks({ parts: names, scale, profileFolder, out }: WebhooksOptions): Promise<void> {
  let starting: Promise<WebhooksHost> | undefined;
  const host = (): Promise<WebhooksHost> => (starting ??= startHost({ env: process.env, progress, profileFolder }));
  await runParts({
    benchmark: 'webhooks',
    parts: names,
    run: async (name) => parts[name]({ host: await host(), scale, progress }),
    stop: async () => starting?.then((started) => started.stop()),
    scale,
    out,
  });
}
