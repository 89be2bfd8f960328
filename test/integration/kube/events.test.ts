import { beforeAll, describe, expect, it } from 'vitest';

import type { ConfigMap } from '../../../api/resources/core-clients.ts';
import {
  createTransport,
  EventRecorder,
  loadKubeConfig,
  ResourceClient,
  type KubeObject,
  type ResourceDescriptor,
  type Stored,
} from '../../../kube/index.ts';
import { createLogger } from '../../../platform/logging.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { configMap, configMaps, namespaces } from './built-in.ts';

interface Event extends KubeObject {
  readonly note: string;
  readonly reason: string;
  readonly action: string;
  readonly reportingController: string;
  readonly regarding: { readonly name: string; readonly uid: string };
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

const descriptor: ResourceDescriptor = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

describe('the event recorder on a real API server', () => {
  const transport = suiteFixture(async () => createTransport({ kubeConfig: loadKubeConfig({ path: (await controlPlane()).kubeconfig }) }));
  let events: ResourceClient<Event>;
  let namespace: string;
  const lines: string[] = [];
  let recorder: EventRecorder;

  beforeAll(async () => {
    events = new ResourceClient<Event>({ transport, descriptor, fieldManager: 'events-test' });
    namespace = await organizationNamespace('events');
    const logger = createLogger({ role: 'test', level: 'debug', destination: { write: (line: string) => void lines.push(line) } });
    recorder = new EventRecorder({ transport, controller: 'example.com/operator', instance: 'events-test-1', logger });
  });

  const anObject = (name: string): Promise<Stored<ConfigMap>> =>
    new ResourceClient<ConfigMap>({ transport, descriptor: configMaps, fieldManager: 'events-test' }).apply(
      configMap(namespace, name, 'x'),
    );
  const eventsOf = async (object: Stored<KubeObject>): Promise<readonly Event[]> => {
    const { items } = await events.list({ namespace: object.metadata.namespace ?? 'default' });
    return items.filter((event) => event.regarding.uid === object.metadata.uid);
  };

  it('writes events that the server takes and kubectl shows with the object', async () => {
    const object = await anObject('described');
    recorder.record(object, { type: 'Normal', reason: 'Accepted', message: 'the configuration was taken', action: 'Reconcile' });
    recorder.record(object, { type: 'Warning', reason: 'SecretMissing', message: 'Secret "x" is missing: create it' });
    await recorder.flush();
    expect((await eventsOf(object)).map(({ reason, action, note }) => `${reason} ${action} ${note}`).sort()).toEqual([
      'Accepted Reconcile the configuration was taken',
      'SecretMissing SecretMissing Secret "x" is missing: create it',
    ]);
    const { kubeconfig, kubectl } = await controlPlane();
    const { stdout } = await run(kubectl, [`--kubeconfig=${kubeconfig}`, '-n', namespace, 'describe', 'configmap', 'described']);
    expect(stdout).toMatch(/Warning\s+SecretMissing.*Secret "x" is missing/);
    expect(lines).toEqual([]);
  });

  it('counts repeats in the one event that is there', async () => {
    const object = await anObject('repeated');
    const same = { type: 'Warning', reason: 'Failed', message: 'no answer' } as const;
    for (let n = 0; n < 3; n++) {
      recorder.record(object, same);
      await recorder.flush();
    }
    for (let n = 0; n < 10; n++) recorder.record(object, same);
    await recorder.flush();
    const [event, ...others] = await eventsOf(object);
    expect(others).toEqual([]);
    expect(event?.series?.count).toBe(13);
    expect(lines).toEqual([]);
  });

  it('makes a new one when somebody removed the one it would count up', async () => {
    const object = await anObject('removed');
    const same = { type: 'Normal', reason: 'Seen', message: 'seen' } as const;
    recorder.record(object, same);
    await recorder.flush();
    for (const event of await eventsOf(object)) await events.delete({ namespace, name: event.metadata.name });
    recorder.record(object, same);
    await recorder.flush();
    await eventually(async () => expect((await eventsOf(object)).map(({ series }) => series?.count)).toEqual([2]));
  });

  it('fits the limits of the server, whatever is said of whatever', async () => {
    const object = await anObject('n'.repeat(253));
    recorder.record(object, { type: 'Warning', reason: 'R'.repeat(500), message: 'é'.repeat(5000) });
    recorder.record(object, { type: 'Normal', reason: 'Many', message: 'many' });
    recorder.record(object, { type: 'Normal', reason: 'Many', message: 'many' });
    const place = await new ResourceClient({ transport, descriptor: namespaces, fieldManager: 'events-test' }).get({ name: namespace });
    recorder.record(place, { type: 'Normal', reason: 'Seen', message: 'a cluster-scoped object' });
    await recorder.flush();
    expect(lines).toEqual([]);
    const long = (await eventsOf(object)).find(({ note }) => note.startsWith('é'));
    expect(Buffer.byteLength(long?.note ?? '')).toBeLessThanOrEqual(1024);
    expect((await eventsOf(object)).find(({ reason }) => reason === 'Many')?.series?.count).toBe(2);
    const all = await events.list({ namespace: 'default' });
    expect(all.items.map(({ regarding }) => regarding.uid)).toContain(place.metadata.uid);
  });

  it('says once that it can not be heard, and throws nothing', async () => {
    const nowhere: KubeObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: `${namespace}-missing`, name: 'x', uid: 'u' },
    };
    for (let n = 0; n < 5; n++) recorder.record(nowhere, { type: 'Normal', reason: 'Lost', message: `${n}` });
    await recorder.flush();
    expect(lines.filter((line) => line.includes('"level":"warn"'))).toHaveLength(1);
    expect(lines[0]).toContain(`${namespace}-missing`);
  });
});
