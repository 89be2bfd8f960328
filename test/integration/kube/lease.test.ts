import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  createTransport,
  KubeError,
  LeaderElector,
  leases,
  loadKubeConfig,
  ResourceClient,
  type Lease,
  type Transport,
} from '../../../kube/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { organizationNamespace } from '../../support/namespace.ts';

describe('leader election on a real API server', () => {
  let transport: Transport;
  let client: ResourceClient<Lease>;

  beforeAll(async () => {
    const { kubeconfig } = await controlPlane();
    transport = createTransport({ kubeConfig: loadKubeConfig({ path: kubeconfig }) });
    client = new ResourceClient<Lease>({ transport, descriptor: leases, fieldManager: 'lease-test' });
  });
  afterAll(async () => {
    await transport.close();
  });

  it('lets one of ten that begin at once lead', async () => {
    const namespace = await organizationNamespace('lease');
    const stop = new AbortController();
    // Time passes only as far as renewals need it: no lease runs out meanwhile.
    const clock = new FakeClock({ now: Date.now() });
    let renewals = 0;
    const counting: ConstructorParameters<typeof LeaderElector>[0]['client'] = {
      get: (...lease) => client.get(...lease),
      create: (...lease) => client.create(...lease),
      update: (...lease) => client.update(...lease).finally(() => (renewals += 1)),
    };
    const leading: string[] = [];
    const running = Array.from({ length: 10 }, (_, n) =>
      new LeaderElector({ client: counting, namespace, name: 'election', identity: `c${n}`, clock }).run({
        signal: stop.signal,
        onStarted: async (signal) => {
          leading.push(`c${n}`);
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        },
      }),
    );
    await eventually(() => expect(leading).toHaveLength(1));
    const { spec } = await client.get({ namespace, name: 'election' });
    for (let round = 1; round <= 4; round += 1) {
      await clock.advance(2_000);
      await eventually(() => expect(renewals).toBeGreaterThanOrEqual(round));
    }
    expect((await client.get({ namespace, name: 'election' })).spec?.renewTime).not.toBe(spec?.renewTime);
    expect(leading).toEqual([spec?.holderIdentity]);
    stop.abort();
    await Promise.all(running);
  });

  it('learns from the server that a record was changed under it', async () => {
    const namespace = await organizationNamespace('lease');
    const made = await client.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name: 'election' },
      spec: { holderIdentity: 'x', leaseDurationSeconds: 15 },
    });
    await client.update({ ...made, spec: { ...made.spec, holderIdentity: '' } });
    const late = client.update({ ...made, spec: { ...made.spec, holderIdentity: 'y' } });
    await expect(late).rejects.toSatisfy((error) => error instanceof KubeError && error.staleConflict);
  });
});
