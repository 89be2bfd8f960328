import { describe, expect, it } from 'vitest';

import { anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { canary, organization, startFacade, type RestAnswer } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));

/** Returns the one line that an answer leaves behind: it is written once the answer is out. */
async function eventOf({ headers }: RestAnswer): Promise<Record<string, unknown>> {
  const trace = headers.get('x-trace-id') ?? '';
  return eventually(() => {
    const lines = facade.log().split('\n');
    const events = lines.filter((line) => line.includes(trace)).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(events).toHaveLength(1);
    return events[0] ?? {};
  });
}

const milliseconds = expect.any(Number);

describe('each request leaves one line', () => {
  it('with who asked for what, how it ended, and where the time went', async () => {
    const made = await org.call('POST', '/v2/ai-agents', anAgentRequest('Logged'));
    expect(await eventOf(made)).toMatchObject({
      keyId: expect.stringMatching(/^key_/),
      org: org.name,
      method: 'POST',
      route: '/v2/ai-agents',
      status: 201,
      phases: { auth: milliseconds, validate: milliseconds, kubernetes: milliseconds, total: milliseconds },
    });
    const keys = await org.call('GET', '/v1/api-keys');
    expect(await eventOf(keys)).toMatchObject({
      route: expect.stringMatching(/^\/v1\/api-keys\/?$/),
      status: 200,
      phases: { db: milliseconds, total: milliseconds },
    });
    const { phases } = (await eventOf(made)) as { readonly phases: Record<string, number> };
    for (const phase of ['auth', 'validate', 'kubernetes']) expect(phases[phase], phase).toBeLessThanOrEqual(phases['total'] ?? 0);
  });

  it('with the code of what went wrong', async () => {
    expect(await eventOf(await org.call('POST', '/v2/ai-agents', {}))).toMatchObject({ status: 422, error: 'validation_failed' });
    expect(await eventOf(await org.call('GET', '/v2/ai-agents/absent'))).toMatchObject({ status: 404, error: 'not_found' });
    const anonymous = await eventOf(await facade.call('GET', '/v2/ai-agents'));
    expect(anonymous).toMatchObject({ status: 401, error: 'unauthorized' });
    expect([anonymous['keyId'], anonymous['org']]).toEqual([undefined, undefined]);
  });

  it('and no line has anything of a body, an address or a key', async () => {
    const mark = canary();
    await org.call('POST', `/v2/ai-agents?x=${mark}`, anAgentRequest(mark, { welcome_message: mark }));
    await org.call('POST', '/v2/ai-agents', `{"${mark}": `);
    await eventOf(await org.call('GET', `/v2/ai-agents/${mark}`));
    expect(facade.log()).not.toContain(mark);
    expect(facade.log()).not.toContain(org.key);
  });
});
