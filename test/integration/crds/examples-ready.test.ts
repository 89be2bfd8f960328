import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Manifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { startCluster, type Cluster } from '../operator/harness.ts';
import { readExamples } from './example-files.ts';

const run = promisify(execFile);

describe('the examples under a running operator', () => {
  let cluster: Cluster;
  let examples: readonly Manifest[];
  beforeAll(async () => {
    cluster = await startCluster();
    examples = await readExamples();
    await cluster.operator();
  });
  afterAll(() => cluster.stop());

  it.each([
    ['as they are listed', '+12025550101', (objects: readonly Manifest[]) => objects],
    ['backwards', '+12025550102', (objects: readonly Manifest[]) => objects.toReversed()],
    [
      'with what refers before what is referred to',
      '+12025550103',
      (objects: readonly Manifest[]) => objects.toSorted((a, b) => b.apiVersion.localeCompare(a.apiVersion)),
    ],
  ])('become Ready when they are applied %s', async (_order, number, arrange) => {
    const namespace = await cluster.organization('shop');
    for (const { metadata, spec, ...rest } of arrange(examples)) {
      // A number belongs to one object in the whole deployment.
      const changed = rest.kind === 'PhoneNumber' ? { spec: { ...spec, number } } : spec === undefined ? {} : { spec };
      await cluster.apply({ ...rest, metadata: { ...metadata, namespace }, ...changed });
    }
    const kubectl = (...args: readonly string[]) =>
      run(cluster.addresses.kubectl, [`--kubeconfig=${cluster.addresses.kubeconfig}`, `--namespace=${namespace}`, ...args]);
    // The server lists a category a moment after the definitions are established.
    await eventually(() => kubectl('get', 'parley'));
    const { stdout } = await kubectl('wait', '--for=condition=Ready', 'parley', '--all', '--timeout=120s');
    expect(stdout.trim().split('\n')).toHaveLength(examples.filter(({ apiVersion }) => apiVersion.startsWith('parley.dev/')).length);
    const agent = await cluster.get('Agent', namespace, 'receptionist');
    expect(agent.status).toMatchObject({ tools: 3, toolNames: ['book-appointment', 'look-up-order', 'transfer-to-workshop'] });
    expect(agent.status?.['servingRevision']).toBe(agent.status?.['desiredRevision']);
  });
});
