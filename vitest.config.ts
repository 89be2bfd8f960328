import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';

import { TotalsReporter } from './scripts/totals-reporter.ts';

// Hundreds of commands and roles are started: with what Node has compiled once they start in half the processor time.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

const source = [
  'api',
  'test/bench',
  'cli',
  'crds',
  'events',
  'knowledge',
  'kube',
  'local-stack',
  'operator',
  'platform',
  'scripts',
  'store',
  'voice',
  'webhooks',
  'workflows',
  'test/node',
  'test/support',
];

/** Suites that start servers: generous limits, because a busy machine is slow, not wrong. No suite has a second try. */
const withServers = {
  testTimeout: 240_000,
  hookTimeout: 600_000,
  teardownTimeout: 60_000,
  // As that of `eventually`: it tells "never" from "not yet".
  expect: { poll: { timeout: 120_000 } },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', new TotalsReporter()],
    coverage: { provider: 'v8', include: source.map((folder) => `${folder}/**/*.ts`), exclude: ['**/*.test.ts'] },
    projects: [
      {
        test: {
          name: 'unit',
          include: source.map((folder) => `${folder}/**/*.test.ts`),
          testTimeout: 60_000,
          expect: { poll: { timeout: 50_000 } },
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: ['test/integration/voice/**'],
          globalSetup: ['test/support/global-setup.ts'],
          ...withServers,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          // Sound has its own time: these files run one by one, and beside nothing else.
          name: 'voice',
          include: ['test/integration/voice/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          ...withServers,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/e2e/global-setup.ts'],
          ...withServers,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
