import { describe, expect, it } from 'vitest';

import { anAgent, aPhoneNumber, aSecret, aTool } from '../../support/builders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import type { Finished } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster, toolsOffered } from './harness.ts';

const cluster = suiteFixture(startCluster);

function explain(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return parleyHere(['explain', ...args], { KUBECONFIG: cluster.addresses.kubeconfig, ...env });
}

describe('parley explain', () => {
  it('says what is wrong and what to do, also before any operator has looked', async () => {
    const org = await cluster.organization();
    await cluster.apply(
      anAgent('reception', org, { llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'keys', key: 'apiKey' } } }),
      anAgent('typo', org, { timeZone: 'Mars/Base' }),
      anAgent('plain', org),
    );
    const missing = await explain(['agent/reception', '-n', org]);
    expect(missing).toMatchObject({ code: 1, stderr: '' });
    expect(missing.stdout).toContain(`Agent ${org}/reception is not ready`);
    expect(missing.stdout).toContain(`Secret ${org}/keys does not exist`);

    await cluster.apply(aSecret('keys', { other: 'canary-in-a-secret' }, org));
    const noKey = await explain(['agent/reception'], { PARLEY_ORG: org });
    expect(noKey.stdout).toContain(`Secret ${org}/keys has no key "apiKey"`);
    expect(noKey.stdout).not.toContain('canary');

    expect((await explain(['agent/typo', '-n', org])).stdout).toMatch(/InvalidTimeZone\n.*"Mars\/Base" is not an IANA time zone/);
    const unseen = await explain(['agent/plain', '-n', org]);
    expect(unseen).toMatchObject({ code: 1 });
    expect(unseen.stdout).toMatch(/the operator has not looked/);
  });

  it('agrees with the operator', async () => {
    const org = await cluster.organization();
    const operator = await cluster.operator();
    await cluster.apply(
      anAgent('reception', org),
      aTool('orders', org, { agentRefs: [{ name: 'reception' }, { name: 'absent' }] }),
      aPhoneNumber('front', '+15550100', org),
    );
    await cluster.reason('Tool', org, 'orders', 'ResolvedRefs', 'AgentNotFound');
    await cluster.ready('PhoneNumber', org, 'front');
    await cluster.until('Agent', org, 'reception', (object) => toolsOffered(object) === 1);
    await cluster.ready('Agent', org, 'reception');

    expect(await explain(['agent/reception', '-n', org])).toMatchObject({
      code: 0,
      stdout: `Agent ${org}/reception is ready: it is in use.\n`,
    });
    const phone = await explain(['pn/front', '-n', org]);
    expect(phone).toMatchObject({ code: 0 });
    expect(phone.stdout).toContain('MediaServerNotConfigured');
    const tool = await explain(['ptool/orders', '-n', org, '--json']);
    expect(tool).toMatchObject({ code: 1 });
    expect(JSON.parse(tool.stdout)).toMatchObject({
      ready: false,
      problems: [
        { condition: 'ResolvedRefs', reason: 'AgentNotFound', message: expect.stringContaining(`Agent ${org}/absent does not exist`) },
      ],
    });
    await operator.stop();
  });

  it('has a way out where there is no such object, organisation or cluster', async () => {
    const org = await cluster.organization();
    await cluster.apply(anAgent('reception', org));
    const absent = await explain(['agent/receptoin', '-n', org]);
    expect(absent).toMatchObject({ code: 1, stdout: '' });
    expect(absent.stderr).toContain('it has: reception');
    const unreachable = await explain(['agent/reception', '-n', org], { KUBECONFIG: '/nonexistent/kubeconfig' });
    expect(unreachable).toMatchObject({ code: 1, stdout: '' });
    expect(unreachable.stderr).toContain('eval "$(parley env)"');
  });
});
