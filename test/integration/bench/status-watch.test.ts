import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createTransport, loadKubeConfig, ResourceClient, type Transport } from '../../../kube/index.ts';
import { agentDescriptor, agentWithCondition, benchAgent, type BenchAgent } from '../../bench/control-plane/agents.ts';
import { StatusWatch } from '../../bench/control-plane/status-watch.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { organizationNamespace } from '../../support/namespace.ts';

describe('StatusWatch', () => {
  let namespace: string;
  let transport: Transport;
  let client: ResourceClient<BenchAgent>;
  let watch: StatusWatch;

  beforeAll(async () => {
    namespace = await organizationNamespace('bench');
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) });
    client = new ResourceClient({ transport, descriptor: agentDescriptor, fieldManager: 'bench' });
    watch = new StatusWatch({ client, namespace, types: ['Ready', 'Other'] });
    await watch.start();
  });
  afterAll(async () => {
    await watch.stop();
    await transport.close();
  });

  const become = (name: string, type: string, observedGeneration: number): Promise<BenchAgent> =>
    client.applyStatus(agentWithCondition({ namespace, name, type, observedGeneration, lastTransitionTime: '2024-01-01T00:00:00Z' }));

  it('measures a change from before the apply until its own generation is Ready', async () => {
    const startedAt = performance.now();
    const changed = watch.change(benchAgent({ namespace, name: 'one' }), 'Ready');
    const sentBy = performance.now();
    await expect.poll(async () => (await client.list({ namespace })).items.length).toBe(1);
    await become('one', 'Other', 1);
    await become('one', 'Ready', 0);
    const readyAt = performance.now();
    await become('one', 'Ready', 1);
    const { fromSentMs, fromStoredMs } = await changed;
    expect(fromSentMs).toBeGreaterThanOrEqual(readyAt - sentBy);
    expect(fromSentMs).toBeLessThanOrEqual(performance.now() - startedAt);
    expect(fromStoredMs).toBeLessThanOrEqual(fromSentMs);
  });

  it('knows when it was, also before the first question', async () => {
    await client.apply(benchAgent({ namespace, name: 'two' }));
    await become('two', 'Ready', 1);
    const at = await watch.reached('two', 'Ready', 1);
    await become('two', 'Ready', 2);
    expect(await watch.reached('two', 'Ready', 2)).toBeGreaterThan(at);
  });

  it('says what it saw last when it gives up', async () => {
    await client.apply(benchAgent({ namespace, name: 'three' }));
    await become('three', 'Ready', 1);
    await watch.reached('three', 'Ready', 1);
    await expect(watch.reached('three', 'Ready', 7, 20)).rejects.toThrow(
      /three: Ready was not seen True for generation 7 .*"observedGeneration":1/,
    );
  });
});
