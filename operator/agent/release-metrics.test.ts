import { Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { ReleaseFigures } from '../../store/index.ts';
import { ReleaseMetrics, type RunningCanary } from './release-metrics.ts';

const figures = (calls: number, errors: number, p95VoiceToVoiceMs: number | null): ReleaseFigures => ({
  calls,
  errors,
  errorsByReason: {},
  failedToolCalls: 1,
  p95VoiceToVoiceMs,
  analysis: { results: 0, value: null },
  elapsedMs: 0,
});

function metrics(of: (revision: string) => Promise<ReleaseFigures>) {
  const registry = new Registry();
  const clock = new FakeClock();
  const release = new ReleaseMetrics({
    registry,
    figures: { of: ({ revision }) => of(revision) },
    clock,
    logger: createLogger({ role: 'operator', level: 'silent' }),
  });
  return { registry, release, clock };
}

const canary = (agentName: string): RunningCanary => ({
  org: 'acme',
  agentName,
  state: { revision: 'serving', canary: { revision: 'canary', configHash: 'h', percent: 10, since: new Date(0) } },
});

it('adds the canaries up by their part in the release, and reads once for each scrape', async () => {
  let read = 0;
  const { registry, release } = metrics((revision) => {
    read += 1;
    return Promise.resolve(revision === 'canary' ? figures(10, 2, 1500) : figures(90, 1, null));
  });
  release.watch(() => [canary('one'), canary('two')]);
  const text = await registry.metrics();
  for (const line of [
    'parley_agent_canaries 2',
    'parley_agent_release_calls{slot="canary"} 20',
    'parley_agent_release_calls{slot="serving"} 180',
    'parley_agent_release_errors{slot="canary"} 4',
    'parley_agent_release_failed_tool_calls{slot="serving"} 2',
    'parley_agent_release_voice_to_voice_seconds{slot="canary"} 1.5',
    'parley_agent_release_voice_to_voice_seconds{slot="serving"} 0',
    'parley_agent_releases_total{change="abort"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  expect(read).toBe(4);
});

it('counts changes that it knows, and goes without figures while Postgres is away', async () => {
  const { registry, release } = metrics(() => Promise.reject(new Error('away')));
  release.watch(() => [canary('one')]);
  release.count('abort');
  release.count('settle');
  const text = await registry.metrics();
  expect(text).toContain('parley_agent_releases_total{change="abort"} 1\n');
  expect(text).not.toContain('settle"');
  expect(text).not.toContain('parley_agent_release_calls{');
});
