/** One thread serves all organisations: no request of one of them may make it compute for long. */
import { expect, it } from 'vitest';

import { anAgentRequest } from '../../support/builders.ts';
import { countSteps } from '../../support/count-steps.ts';
import { hostileBodies, type HostileBody } from '../../support/hostile-bodies.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer } from './calls-support.ts';
import { organization, startFacade, type RestAnswer } from './facade.ts';

/** Allows some steps for each byte, and for the 20,000 values that a body may hold at most. */
const mostSteps = (body: string): number => 5 * Buffer.byteLength(body) + 2_000_000;
/** Most characters of an answer. */
const MOST_ANSWERED = 400_000;

const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer() } }));
const org = suiteFixture(() => organization(facade));

it('no hostile body takes long to read, and each has a short answer', async () => {
  const { ai_agent_id: id } = (await org.call('POST', '/v2/ai-agents', anAgentRequest('Ordinary'))).body;
  const send = ({ method, path, body }: HostileBody): Promise<RestAnswer> => org.call(method, path.replace(':agent', id), body);
  const bodies = hostileBodies(0);
  // A first round brings in what is loaded when it is first needed.
  for (const each of bodies) await send({ ...each, body: '{"agent_name":""}' });
  const steps = await countSteps();
  await steps();
  const excessive: string[] = [];
  for (const { name, ...each } of bodies) {
    const { status, text } = await send({ name, ...each });
    const taken = await steps();
    // A refusal is an answer, too.
    if (status >= 500 || text.length > MOST_ANSWERED || taken > mostSteps(each.body))
      excessive.push(`${name}: ${status}, ${text.length} characters, ${taken} steps for ${each.body.length} characters`);
  }
  expect(excessive).toEqual([]);
});
