import { Option } from 'commander';

import { progress } from '../harness/progress.ts';
import { benchmark, onServers } from '../harness/suite.ts';
import { backlog } from './backlog.ts';
import { crashes } from './crashes.ts';
import { failover } from './failover.ts';
import { startHost, type WebhooksHost } from './host.ts';
import { hung } from './hung.ts';
import type { WebhooksScale } from './part.ts';
import { rate } from './rate.ts';

const full: WebhooksScale = {
  rounds: 3,
  seconds: 30,
  warmUpSeconds: 5,
  backlog: 20_000,
  hungBacklog: 100_000,
  healthy: 199,
  crashEvents: 10_000,
  kills: 5,
};

export const run = benchmark<WebhooksScale, WebhooksHost, { readonly profile?: string }>({
  name: 'webhooks',
  description:
    'webhooks: from commit to receipt at 200 events a second (rate), a backlog (backlog), healthy endpoints next to one that hangs (hung), and whether anything is lost when every process is killed in turn (crashes), how long deliveries wait when one of two dispatchers is killed (failover)',
  parts: {
    rate: onServers(rate),
    backlog: onServers(backlog),
    hung: onServers(hung),
    crashes: onServers(crashes),
    failover: onServers(failover),
  },
  full,
  quick: { rounds: 1, seconds: 5, warmUpSeconds: 2, backlog: 2_000, hungBacklog: 5_000, healthy: 49, crashEvents: 1_000, kills: 1 },
  numbers: {
    rounds: [`turns of each contender (${full.rounds})`, (rounds) => ({ rounds })],
    seconds: [`length of one turn at a steady rate (${full.seconds})`, (seconds) => ({ seconds })],
  },
  options: [new Option('--profile <folder>', 'let the dispatcher leave a CPU profile of each of its lives there; figures are worse then')],
  start: ({ flags: { profile } }) => startHost({ env: process.env, progress, profileFolder: profile }),
});
