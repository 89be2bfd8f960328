import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createTransport, ResourceClient, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { startApiServerDouble, type ApiServerDouble } from '../../test/support/api-server-double/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { unusableKeys } from '../webhook-subscription/signing-keys.ts';
import { KeyReader, type DataFacts } from './key-reader.ts';
import { DATA_DESCRIPTORS } from './namespace-informers.ts';
import { UnsettledError } from './reconciler.ts';

const denial = { kind: 'status', code: 403, reason: 'Forbidden', match: { path: '/api/v1/namespaces/acme/secrets/keys' } } as const;

describe('KeyReader', () => {
  let double: ApiServerDouble;
  let transport: Transport;
  let seen: Stored<KubeObject>;
  let clock: FakeClock;
  let reader: KeyReader;

  const read = (): Promise<DataFacts> => reader.read('Secret', seen, [], AbortSignal.timeout(30_000));

  beforeEach(async () => {
    double = await startApiServerDouble({ namespaces: ['acme'] });
    transport = createTransport({ kubeConfig: double.kubeConfig });
    const client = new ResourceClient<KubeObject & { readonly data: object }>({
      transport,
      descriptor: DATA_DESCRIPTORS.Secret,
      fieldManager: 'test',
    });
    seen = await client.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'acme', name: 'keys' },
      data: { apiKey: 'eA==' },
    });
    clock = new FakeClock();
    reader = new KeyReader({ transport, clock, unusableKeys });
  });

  afterEach(async () => {
    await transport.close();
    await double.stop();
  });

  it('believes a refusal only once it has lasted, for an API server that has just started refuses everything', async () => {
    double.faults.next({ ...denial, times: 3 });
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(9_999);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(1);
    expect((await read()).object).toEqual({ state: 'forbidden' });
  });

  it('begins anew after an answer', async () => {
    double.faults.next(denial);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(60_000);
    expect((await read()).object).toMatchObject({ state: 'present', keys: new Set(['apiKey']) });
    seen = { ...seen, metadata: { ...seen.metadata, resourceVersion: '1000000' } };
    double.faults.next(denial);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
  });
});
