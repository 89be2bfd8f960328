import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createExampleMcp } from '../../../local-stack/speech/example-mcp.ts';
import { exampleOrdersHost } from '../../../local-stack/speech/example-orders.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openEgress } from '../../support/open-egress.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createProviderKeyReader } from '../../../calls/provider-access/index.ts';
import { ToolListRefresher } from '../../../calls/mcp-client/tool-list-refresher.ts';
import type { TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { Servers } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startCluster } from '../operator/harness.ts';
import { readExamples } from './example-files.ts';

const run = promisify(execFile);

describe('the examples under a running operator', () => {
  const cluster = suiteFixture(startCluster);
  let examples: readonly TestManifest[];
  const servers = new Servers();
  const stopping = new AbortController();
  beforeAll(async () => {
    examples = await readExamples();
    await cluster.operator();
    // This is the worker's part: to ask the MCP server for its tools.
    const mcp = createExampleMcp();
    const { port } = await servers.http((request, response) => void mcp(request, response));
    const lists = new ToolListRefresher({
      lists: cluster.store.toolLists,
      egress: openEgress({ hosts: [exampleOrdersHost(port)], allowCidrs: ['127.0.0.0/8'] }),
      keys: createProviderKeyReader({ transport: cluster.transport, clock: systemClock, freshMs: 0 }),
      refreshMs: 60_000,
      clock: systemClock,
      random: () => 0.5,
      logger: createLogger({ role: 'worker', level: 'silent' }),
    });
    void lists.run(stopping.signal);
  });
  afterAll(async () => {
    stopping.abort();
    await servers.stop();
  });

  it.each([
    ['as they are listed', '+12025550101', (objects: readonly TestManifest[]) => objects],
    ['backwards', '+12025550102', (objects: readonly TestManifest[]) => objects.toReversed()],
    [
      'with what refers before what is referred to',
      '+12025550103',
      (objects: readonly TestManifest[]) => objects.toSorted((a, b) => b.apiVersion.localeCompare(a.apiVersion)),
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
    const { stdout } = await kubectl('wait', '--for=condition=Ready', 'parley', '--all', '--timeout=600s');
    expect(stdout.trim().split('\n')).toHaveLength(examples.filter(({ apiVersion }) => apiVersion.startsWith('parley.dev/')).length);
    const agent = await cluster.get('Agent', namespace, 'receptionist');
    expect(agent.status).toMatchObject({
      tools: { total: 4, names: ['book-appointment', 'look-up-order', 'transfer-to-workshop', 'workshop'] },
    });
    expect(agent.status?.['servingRevision']).toBe(agent.status?.['desiredRevision']);
  });
});
