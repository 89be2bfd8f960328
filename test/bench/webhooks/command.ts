import type { Command } from 'commander';

import { partsOf, wholeNumber } from '../harness/flags.ts';
import type { WebhooksScale } from './part.ts';

export const partNames = ['rate', 'backlog', 'hung', 'temporal', 'crashes'] as const;
export type WebhooksPartName = (typeof partNames)[number];

const full: WebhooksScale = {
  rounds: 3,
  seconds: 30,
  warmUpSeconds: 5,
  backlog: 20_000,
  hungBacklog: 100_000,
  healthy: 199,
  workflows: 1_000,
  crashEvents: 10_000,
  kills: 5,
};

/** Enough to see that everything works; too little for a figure. */
const quick: WebhooksScale = {
  rounds: 1,
  seconds: 5,
  warmUpSeconds: 2,
  backlog: 2_000,
  hungBacklog: 5_000,
  healthy: 49,
  workflows: 100,
  crashEvents: 1_000,
  kills: 1,
};

interface Flags {
  readonly quick?: true;
  readonly only: readonly WebhooksPartName[];
  readonly out?: string;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly profile?: string;
}

export function registerWebhooks(program: Command): void {
  program
    .command('webhooks')
    .description(
      'webhooks: from commit to receipt at 200 events a second (rate), a backlog (backlog), healthy endpoints next to one that hangs (hung), the same load through one Temporal workflow for each delivery (temporal), and whether anything is lost when every process is killed in turn (crashes)',
    )
    .option('--quick', 'a short run that shows that everything works; its figures mean little')
    .option('--only <parts>', `which parts to run: ${partNames.join(', ')}`, partsOf(partNames), partNames)
    .option('--rounds <n>', `turns of each contender (${full.rounds})`, wholeNumber)
    .option('--seconds <n>', `length of one turn at a steady rate (${full.seconds})`, wholeNumber)
    .option('--profile <folder>', 'let the dispatcher leave a CPU profile of each of its lives there; figures are worse then')
    .option('--out <path>', 'where the JSON goes (test/bench/results/webhooks-<time>.json)')
    .action(async (flags: Flags) => {
      const { runWebhooks } = await import('./run.ts');
      const base = flags.quick ? quick : full;
      await runWebhooks({
        parts: flags.only,
        scale: { ...base, rounds: flags.rounds ?? base.rounds, seconds: flags.seconds ?? base.seconds },
        ...(flags.profile === undefined ? {} : { profileFolder: flags.profile }),
        ...(flags.out === undefined ? {} : { out: flags.out }),
      });
    });
}
