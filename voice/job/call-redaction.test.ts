import { beforeEach, expect, it } from 'vitest';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { createCallRedaction, createSoundGuard } from './call-redaction.ts';

let counted: string[];
beforeEach(() => {
  counted = [];
});

type Redaction = NonNullable<AgentRevisionConfig['agent']['redaction']>;

function redactionOf(redaction: Redaction) {
  const services = { clock: new FakeClock(), egress: { for: () => undefined }, onRedaction: (kind: string) => counted.push(kind) };
  return createCallRedaction({
    services: services as never,
    call: { org: 'o' },
    agents: [
      { name: 'desk', agent: { language: 'en', llm: { provider: 'openai', model: 'm' } } },
      { name: 'billing', agent: { language: 'en', llm: { provider: 'openai', model: 'm' }, redaction } },
    ] as never,
    usage: { of: () => ({}) as never },
    logger: createLogger({ role: 'voice', level: 'silent' }),
  })!;
}

const byShape: Redaction = { kinds: ['Phone'], patterns: [{ name: 'member', regex: 'ACME-[0-9]+' }], byModel: false, recordings: 'Tone' };
const byModel: Redaction = { kinds: ['Name'], byModel: true, recordings: 'Tone' };
const given = { phone: '+4930901820', name: 'Ada' };
const found = { ...given, other: '+49 30 901821', customer: { note: 'ACME-77', visits: 3 } };

it('keeps what the call was registered with, and what was looked up without what is personal', () => {
  const redaction = redactionOf(byShape);
  expect(redaction.keptData(found, given)).toEqual({ ...given, other: '[phone]', customer: { note: '[member]', visits: 3 } });
  expect(counted).toEqual(['phone', 'pattern']);
  expect(redaction.log.counts).toEqual({ phone: 1, member: 1 });
  expect(redactionOf(byModel).keptData(found, given)).toEqual({ ...given, other: '[not checked]', customer: '[not checked]' });
});

it('caches only answers in which there is nothing personal', async () => {
  const cached: string[] = [];
  const cache = { get: async () => 'known', put: async (_org: string, _key: string, answer: string) => void cached.push(answer) };
  for (const redaction of [byShape, byModel]) {
    const kept = redactionOf(redaction).cache(cache);
    expect(await kept.get('o', 'k')).toBe('known');
    for (const answer of ['{"free":2}', '{"phone":"+4930901820"}']) await kept.put('o', 'k', answer, { forMs: 1 });
  }
  expect(cached).toEqual(['{"free":2}']);
  expect(counted).toEqual([]);
});

it('guards recordings where a tone is wanted, or a tool is sensitive', () => {
  const guard = (redaction: Redaction | undefined, sensitive: boolean) =>
    createSoundGuard(
      [
        { agent: { language: 'en' }, tools: [] },
        { agent: { language: 'en', redaction }, tools: [{ spec: { sensitive } }] },
      ] as never,
      undefined,
      new FakeClock(),
    );
  expect(guard(undefined, false)).toBeUndefined();
  expect(guard({ ...byShape, recordings: 'Keep' }, false)).toBeUndefined();
  expect(guard(byShape, false)).toBeDefined();
  expect(guard(undefined, true)).toBeDefined();
});
