import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { createTransport, loadKubeConfig, ResourceClient, type Transport } from '../../../kube/index.ts';
import { agentDescriptor, agentWithCondition, benchAgent, type BenchAgent } from '../../bench/control-plane/agents.ts';
import { StatusWatch } from '../../bench/control-plane/status-watch.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { organizationNamespace } from '../../support/namespace.ts';

describe('StatusWatch', () => {
  const clock = new FakeClock();
  let namespace: string;
  let transport: Transport;
  let client: ResourceClient<BenchAgent>;
  let watch: StatusWatch;

  beforeAll(async () => {
    namespace = await organizationNamespace('bench');
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) });
    client = new ResourceClient({ transport, descriptor: agentDescriptor, fieldManager: 'bench' });
    watch = new StatusWatch({ client, namespace, types: ['Ready', 'Other'], clock });
    await watch.start();
  });
  afterAll(async () => {
    await watch.stop();
    await transport.close();
  });

  const become = (name: string, type: string, observedGeneration: number): Promise<BenchAgent> =>
    client.applyStatus(agentWithCondition({ namespace, name, type, observedGeneration, lastTransitionTime: '2024-01-01T00:00:00Z' }));

  it('measures a change from before the apply until its own generation is Ready', async () => {
    const apply = vi.spyOn(client, 'apply');
    const changed = watch.change(benchAgent({ namespace, name: 'one' }), 'Ready');
    clock.tick(20);
    await apply.mock.results[0]!.value;
    clock.tick(50);
    await become('one', 'Other', 1);
    await become('one', 'Ready', 0);
    await watch.reached('one', 'Ready', 0);
    clock.tick(100);
    await become('one', 'Ready', 1);
    expect(await changed).toEqual({ fromSentMs: 170, fromStoredMs: 150 });
  });

  it('knows when it was, also before the first question', async () => {
    await client.apply(benchAgent({ namespace, name: 'two' }));
    await become('two', 'Ready', 1);
    const at = await watch.reached('two', 'Ready', 1);
    clock.tick(10);
    await become('two', 'Ready', 2);
    expect(await watch.reached('two', 'Ready', 2)).toBe(at + 10);
    expect(await watch.reached('two', 'Ready', 2)).toBe(at + 10);
  });

  it('says what it saw last when it gives up', async () => {
    await client.apply(benchAgent({ namespace, name: 'three' }));
    await become('three', 'Ready', 1);
    await watch.reached('three', 'Ready', 1);
    const late = watch.reached('three', 'Ready', 7, 20);
    clock.tick(20);
    await expect(late).rejects.toThrow(/three: Ready was not seen True for generation 7 .*"observedGeneration":1/);
  });
});
