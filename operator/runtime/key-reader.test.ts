import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createTransport, type KubeObject, type Stored, type Transport } from '../../kube/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { startFaultProxy, type FaultProxy } from '../../test/support/fault-proxy/fault-proxy.ts';
import { unusableKeys } from '../webhook-subscription/signing-keys.ts';
import { KeyReader, type DataFacts } from './key-reader.ts';
import { UnsettledError } from './unsettled-error.ts';

const denial = { kind: 'status', code: 403, reason: 'Forbidden', match: { path: '/api/v1/namespaces/acme/secrets/keys' } } as const;

describe('KeyReader', () => {
  let server: FaultProxy;
  let transport: Transport;
  let seen: Stored<KubeObject>;
  let clock: FakeClock;
  let reader: KeyReader;

  const read = (): Promise<DataFacts> => reader.read('Secret', seen, [], new AbortController().signal);

  beforeEach(async () => {
    const metadata = { namespace: 'acme', name: 'keys', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
    seen = { apiVersion: 'v1', kind: 'Secret', metadata };
    server = await startFaultProxy(() => ({ body: { ...seen, data: { apiKey: 'eA==' } } }));
    clock = new FakeClock();
    transport = createTransport({ kubeConfig: server.kubeConfig, clock });
    reader = new KeyReader({ transport, clock, unusableKeys, digestKeyOf: (namespace) => namespace });
  });

  afterEach(async () => {
    await transport.close();
    await server.stop();
  });

  it('believes a refusal only once it has lasted, for an API server that has just started refuses everything', async () => {
    server.faults.next({ ...denial, times: 3 });
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(9_999);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(1);
    expect((await read()).object).toEqual({ state: 'forbidden' });
  });

  it('starts over after an answer', async () => {
    server.faults.next(denial);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
    clock.tick(60_000);
    expect((await read()).object).toMatchObject({ state: 'present', keys: new Set(['apiKey']) });
    seen = { ...seen, metadata: { ...seen.metadata, resourceVersion: '1000000' } };
    server.faults.next(denial);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
  });

  it('asks again about what it is told to forget', async () => {
    await read();
    server.faults.next(denial);
    expect((await read()).object).toMatchObject({ state: 'present' });
    reader.forget('Secret', seen.metadata);
    await expect(read()).rejects.toBeInstanceOf(UnsettledError);
  });

  it('reads again what went back to an older version, and what was deleted and came back', async () => {
    const at = (resourceVersion: string): Stored<KubeObject> => ({ ...seen, metadata: { ...seen.metadata, resourceVersion } });
    seen = at('9');
    await read();
    const previous = seen;
    seen = at('5');
    expect((await read()).object).toMatchObject({ resourceVersion: '9' });
    reader.saw('Secret', { type: 'modified', object: seen, previous, initial: false });
    expect((await read()).object).toMatchObject({ resourceVersion: '5' });
    reader.saw('Secret', { type: 'deleted', object: seen, initial: false });
    seen = at('3');
    expect((await read()).object).toMatchObject({ resourceVersion: '3' });
  });
});
