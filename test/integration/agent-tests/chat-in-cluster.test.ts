import { expect, it } from 'vitest';

import { aSecret } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster } from '../operator/harness.ts';
import { aTestFolder, lookUpOrder, receptionist } from './test-folder.ts';

const KEY_OF_THE_CLUSTER = 'sk-in-a-secret';

const cluster = suiteFixture(startCluster);

it('holds a conversation with an agent of the cluster, its tools and its key', async () => {
  await using folder = await aTestFolder();
  const org = await cluster.organization();
  const { llm } = receptionist().spec as { readonly llm: object };
  const inOrg = <T extends { readonly metadata: object }>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace: org },
  });
  await cluster.apply(
    aSecret('model', { 'api-key': KEY_OF_THE_CLUSTER }, org),
    inOrg(receptionist({ llm: { ...llm, provider: 'openai_compatible', baseURL: folder.provider.url } })),
    inOrg(lookUpOrder()),
  );
  const env = { KUBECONFIG: cluster.addresses.kubeconfig, PARLEY_ORG: org };
  const done = await folder.parley(['chat', 'receptionist', '--data', 'shop=Dockside'], { env, input: 'Hello\nThanks, bye!\n' });
  expect([done.code, done.stderr]).toEqual([0, '']);
  expect(done.stdout).toContain('agent │ Hello, this is Dockside.');
  expect(done.stdout).toContain('the call has ended: agent_ended_call');
  const [first] = folder.provider.requests('chat');
  expect([first?.headers.authorization, first?.toolNames.includes('look_up_order')]).toEqual([`Bearer ${KEY_OF_THE_CLUSTER}`, true]);
  const absent = await folder.parley(['chat', 'ghost'], { env, input: '' });
  expect([absent.code, absent.stderr]).toEqual([1, expect.stringMatching(/ghost/)]);
});
