/** Makes, finds again, changes, loses and makes again, and removes phone numbers at a real media server. */
import { randomInt } from 'node:crypto';

import { SipClient } from 'livekit-server-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createTransport, loadKubeConfig, ResourceClient, type KubeObject } from '../../../kube/index.ts';
import { anAgent, aPhoneNumber } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { startSipMediaServer, type SipMediaServer } from '../../support/sip-media-server.ts';
import { condition, startCluster, type AnyObject, type Cluster } from './harness.ts';

let cluster: Cluster;
let media: SipMediaServer;
let sip: SipClient;
let operator: RunningRole;
let org: string;

const telephony = (server: Pick<SipMediaServer, 'url' | 'apiKey' | 'apiSecret'>) => ({
  LIVEKIT_URL: server.url,
  LIVEKIT_API_KEY: server.apiKey,
  LIVEKIT_API_SECRET: server.apiSecret,
  PARLEY_LEADER_ELECTION: 'false',
  PARLEY_TRUNKS_LOOK_MS: '500',
});

beforeAll(async () => {
  [cluster, media] = await Promise.all([startCluster(), startSipMediaServer()]);
  sip = new SipClient(media.url.replace(/^ws/, 'http'), media.apiKey, media.apiSecret);
  operator = await cluster.operator({ env: telephony(media) });
  org = await cluster.organization();
  await cluster.apply(anAgent('answers', org), anAgent('calls', org));
});

afterAll(async () => {
  await cluster?.stop();
  await media?.stop();
});

const fresh = (): string => `+1555${randomInt(1_000_000, 9_999_999)}`;
const aNumber = (name: string, number: string, spec: object, namespace = org): ReturnType<typeof aPhoneNumber> =>
  aPhoneNumber(name, number, namespace, { type: 'SIP', ...spec });
const secret = (name: string, password: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: org },
  stringData: { password },
});
const trunk = (name: string, more: object = {}) => ({
  terminationURI: 'sip:trunk.example.com:5080;transport=tcp',
  username: 'harbour',
  passwordSecretRef: { name, key: 'password' },
  ...more,
});

interface ClusterRole extends KubeObject {
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

/** Runs `work` while the operator sees Secrets, this one among them, and may not read them. */
async function withoutReading(name: string, work: () => Promise<void>): Promise<void> {
  const descriptor = {
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    kind: 'ClusterRole',
    plural: 'clusterroles',
    namespaced: false,
  };
  const roles = new ResourceClient<ClusterRole>({ transport: cluster.transport, descriptor, fieldManager: 'test' });
  const setRules = async (rules: ClusterRole['rules']): Promise<void> => {
    await roles.update({ ...(await roles.get({ name: 'parley-operator' })), rules });
  };
  const { rules } = await roles.get({ name: 'parley-operator' });
  const transport = createTransport({ kubeConfig: loadKubeConfig({ path: cluster.addresses.kubeconfigs.operator }) });
  const read = (): Promise<unknown> => transport.request({ method: 'GET', path: `/api/v1/namespaces/${org}/secrets/${name}` });
  try {
    await setRules(
      rules.map((rule) => (rule.resources.includes('secrets') ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'get') } : rule)),
    );
    await eventually(() => expect(read()).rejects.toMatchObject({ code: 403 }));
    await work();
  } finally {
    await setRules(rules);
    await eventually(read);
    await transport.close();
  }
}

/** Returns everything at the media server that is the number's. */
async function at(number: string) {
  const [inbound, outbound, rules] = await Promise.all([sip.listSipInboundTrunk(), sip.listSipOutboundTrunk(), sip.listSipDispatchRule()]);
  const of = <T extends { readonly metadata: string }>(things: readonly T[]): T[] =>
    things.filter(({ metadata }) => metadata.includes(number));
  return { inbound: of(inbound), outbound: of(outbound), rules: of(rules) };
}

const counts = async (number: string): Promise<readonly number[]> => Object.values(await at(number)).map(({ length }) => length);
const connected = (name: string): Promise<AnyObject> => cluster.reason('PhoneNumber', org, name, 'Synced', 'TrunksReady');

describe('a number with a trunk of its own', () => {
  it('is connected both ways, and says by which ids', async () => {
    const number = fresh();
    await cluster.apply(
      secret('both-ways', 'first password'),
      aNumber('both-ways', number, {
        sip: trunk('both-ways'),
        inboundAgentRef: { name: 'answers' },
        outboundAgentRef: { name: 'calls' },
      }),
    );
    const object = await connected('both-ways');
    const { inbound, outbound, rules } = await at(number);
    expect(inbound).toMatchObject([{ numbers: [number], authUsername: 'harbour', authPassword: 'first password', allowedAddresses: [] }]);
    expect(outbound).toMatchObject([
      { numbers: [number], address: 'trunk.example.com:5080', transport: 2, authUsername: 'harbour', authPassword: 'first password' },
    ]);
    expect(rules).toHaveLength(1);
    expect(rules[0]?.trunkIds).toEqual([inbound[0]?.sipTrunkId]);
    expect(rules[0]?.rule?.rule).toMatchObject({ case: 'dispatchRuleIndividual', value: { roomPrefix: 'call-' } });
    // Participants can read it.
    expect(rules[0]?.roomConfig?.agents).toMatchObject([{ agentName: 'parley-voice', metadata: '{"phone":"inbound"}', restartPolicy: 1 }]);
    expect(object.status).toMatchObject({
      inboundTrunkID: inbound[0]?.sipTrunkId,
      outboundTrunkID: outbound[0]?.sipTrunkId,
      dispatchRuleID: rules[0]?.sipDispatchRuleId,
    });
    expect(JSON.stringify(object)).not.toContain('first password');
    expect(condition(object, 'Ready')?.status).toBe('True');
    expect(await cluster.store.phoneRoutes.find(number)).toMatchObject({
      org,
      name: 'both-ways',
      inboundAgent: 'answers',
      outboundAgent: 'calls',
      outboundTrunk: outbound[0]?.sipTrunkId,
    });

    // The password changes, and the trunks follow without becoming others.
    await cluster.apply(secret('both-ways', 'second password'));
    await eventually(async () => {
      const now = await at(number);
      expect(now.inbound).toMatchObject([{ sipTrunkId: inbound[0]?.sipTrunkId, authPassword: 'second password' }]);
      expect(now.outbound).toMatchObject([{ sipTrunkId: outbound[0]?.sipTrunkId, authPassword: 'second password' }]);
    });

    // The trunks follow the spec, too.
    await cluster.apply(
      aNumber('both-ways', number, {
        sip: trunk('both-ways', { terminationURI: 'other.example.com', region: 'bd' }),
        outboundAgentRef: { name: 'calls' },
      }),
    );
    await eventually(async () => {
      const now = await at(number);
      // No job answers any more: the call is refused by the gateway.
      expect(now.rules).toEqual([]);
      expect(now.inbound).toHaveLength(1);
      expect(now.outbound).toMatchObject([{ address: 'other.example.com', transport: 0, destinationCountry: 'BD' }]);
    });
    expect((await connected('both-ways')).status?.['dispatchRuleID']).toBeUndefined();
    expect((await cluster.store.phoneRoutes.find(number))?.inboundAgent).toBeNull();

    await cluster.remove('PhoneNumber', org, 'both-ways');
    await eventually(async () => expect(await counts(number)).toEqual([0, 0, 0]));
    await eventually(async () => expect(await cluster.store.phoneRoutes.find(number)).toBeUndefined());
  });

  it('keeps its login while the operator may not read the Secret, says so, and goes on when it may', async () => {
    const number = fresh();
    const manifest = aNumber('shut-out', number, { sip: trunk('shut-out'), inboundAgentRef: { name: 'answers' } });
    await cluster.apply(secret('shut-out', 'kept password'), manifest);
    await connected('shut-out');
    const before = await at(number);
    const request = (time: string): Promise<void> =>
      cluster.apply({ ...manifest, metadata: { ...manifest.metadata, annotations: { 'parley.dev/reconcile-requested-at': time } } });
    await withoutReading('shut-out', async () => {
      await request('while it may not');
      const object = await cluster.reason('PhoneNumber', org, 'shut-out', 'Ready', 'ReferenceForbidden');
      expect(condition(object, 'Synced')?.reason).toBe('TrunksWithheld');
      expect(await at(number)).toEqual(before);
    });
    await request('when it may');
    await connected('shut-out');
    expect(await at(number)).toEqual(before);
  });

  it('is made again when the media server has lost everything, and when somebody has changed it', async () => {
    const number = fresh();
    await cluster.apply(aNumber('lost', number, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    const before = await connected('lost');
    await media.flush();
    await eventually(async () => expect(await counts(number)).toEqual([1, 0, 1]));
    const { inbound, rules } = await at(number);
    expect(inbound[0]?.sipTrunkId).not.toBe(before.status?.['inboundTrunkID']);
    await cluster.until('PhoneNumber', org, 'lost', (object) => object.status?.['dispatchRuleID'] === rules[0]?.sipDispatchRuleId);

    await sip.updateSipInboundTrunkFields(inbound[0]?.sipTrunkId ?? '', { authUsername: 'intruder', authPassword: 'knows it' });
    await eventually(async () => expect((await at(number)).inbound).toMatchObject([{ authUsername: '' }]));
    await sip.deleteSipDispatchRule(rules[0]?.sipDispatchRuleId ?? '');
    await eventually(async () => expect(await counts(number)).toEqual([1, 0, 1]));
  });

  it('stays at the media server where it is retained, is found again by its number, and never made twice', async () => {
    const number = fresh();
    const manifest = aNumber('kept', number, { sip: {}, inboundAgentRef: { name: 'answers' }, deletionPolicy: 'Retain' });
    await cluster.apply(manifest);
    const first = await connected('kept');
    await cluster.remove('PhoneNumber', org, 'kept');
    // An object that is applied before would be a change of the one that goes.
    await eventually(() => expect(cluster.get('PhoneNumber', org, 'kept')).rejects.toMatchObject({ notFound: true }));
    expect(await cluster.store.phoneRoutes.find(number)).toBeUndefined();
    expect(await counts(number)).toEqual([1, 0, 1]);

    await cluster.apply({ ...manifest, spec: { ...(manifest.spec as object), deletionPolicy: 'Delete' } });
    const second = await connected('kept');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(second.status?.['inboundTrunkID']).toBe(first.status?.['inboundTrunkID']);
    expect(await counts(number)).toEqual([1, 0, 1]);

    // An operator that knows nothing yet finds what is there.
    await operator.stop();
    operator = await cluster.operator({ env: telephony(media) });
    await cluster.apply({
      ...manifest,
      metadata: { ...manifest.metadata, annotations: { 'parley.dev/reconcile-requested-at': 'now' } },
      spec: { ...(manifest.spec as object), deletionPolicy: 'Delete' },
    });
    const third = await cluster.until('PhoneNumber', org, 'kept', (object) => object.status?.['lastHandledReconcileAt'] === 'now');
    expect(third.status?.['inboundTrunkID']).toBe(first.status?.['inboundTrunkID']);
    expect(await counts(number)).toEqual([1, 0, 1]);
  });

  it('goes when the media server is back, where its object went meanwhile and would have taken it along', async () => {
    const [gone, retained, foreign] = [fresh(), fresh(), fresh()];
    const answers = { sip: {}, inboundAgentRef: { name: 'answers' } };
    await cluster.apply(aNumber('gone', gone, answers), aNumber('retained', retained, { ...answers, deletionPolicy: 'Orphan' }));
    await Promise.all([connected('gone'), connected('retained')]);
    // The trunk is another installation's that shares the media server.
    const metadata = JSON.stringify({ 'parley.dev/phone-number': 'theirs', number: foreign, deletionPolicy: 'Delete' });
    await sip.createSipInboundTrunk('theirs', [foreign], { metadata });

    await operator.stop();
    operator = await cluster.operator({ env: telephony({ ...media, url: 'ws://127.0.0.1:9' }) });
    for (const name of ['gone', 'retained']) await cluster.remove('PhoneNumber', org, name);
    const held = await cluster.until('PhoneNumber', org, 'gone', (object) => condition(object, 'Ready')?.reason === 'Deleting');
    expect(condition(held, 'Synced')?.reason).toBe('MediaServerUnavailable');
    await cluster.apply(aNumber('gone', gone, { ...answers, deletionPolicy: 'Orphan' }));
    for (const name of ['gone', 'retained']) {
      await eventually(() => expect(cluster.get('PhoneNumber', org, name)).rejects.toMatchObject({ notFound: true }));
    }
    expect(await counts(gone)).toEqual([1, 0, 1]);
    await operator.stop();
    operator = await cluster.operator({ env: telephony(media) });
    await eventually(async () => expect(await counts(gone)).toEqual([0, 0, 0]));
    expect([await counts(retained), await counts(foreign)]).toEqual([
      [1, 0, 1],
      [1, 0, 0],
    ]);
  });

  it('goes to the younger object of its organisation when the older one is gone, and to no other', async () => {
    const number = fresh();
    const other = await cluster.organization();
    await cluster.apply(anAgent('answers', other));
    await cluster.apply(aNumber('older', number, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    await connected('older');
    await cluster.untilOlder('PhoneNumber', org, 'older');
    await cluster.apply(aNumber('foreign', number, { sip: {}, inboundAgentRef: { name: 'answers' } }, other));
    await cluster.untilOlder('PhoneNumber', other, 'foreign');
    await cluster.apply(aNumber('younger', number, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    for (const [namespace, name] of [
      [other, 'foreign'],
      [org, 'younger'],
    ] as const)
      await cluster.reason('PhoneNumber', namespace, name, 'Accepted', 'NumberTaken');
    await cluster.remove('PhoneNumber', org, 'older');
    await connected('younger');
    expect(await cluster.store.phoneRoutes.find(number)).toMatchObject({ org, name: 'younger' });
    await cluster.remove('PhoneNumber', org, 'younger');
    await cluster.reason('PhoneNumber', other, 'foreign', 'Accepted', 'NumberReserved');
    expect(await cluster.store.phoneRoutes.find(number)).toBeUndefined();
    await eventually(async () => expect(await counts(number)).toEqual([0, 0, 0]));
  });

  it('says what is in its way at the media server, and is connected when that is gone', async () => {
    const number = fresh();
    const { sipTrunkId } = await sip.createSipInboundTrunk('made by hand', [number], { metadata: 'unknown' });
    await cluster.apply(aNumber('in-the-way', number, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    const object = await cluster.reason('PhoneNumber', org, 'in-the-way', 'Synced', 'TrunkRefused');
    expect(condition(object, 'Ready')).toMatchObject({ status: 'False', message: expect.stringContaining(sipTrunkId) as string });
    await sip.deleteSipTrunk(sipTrunkId);
    await connected('in-the-way');
  });
});

describe('other numbers', () => {
  it('of the pool and of a carrier are connected as the deployment says', async () => {
    const [native, carrier] = [fresh(), fresh()];
    const outboundAgentRef = { name: 'calls' };
    await cluster.apply(
      aNumber('native', native, { type: 'Native', outboundAgentRef }),
      aNumber('carrier', carrier, { type: 'Carrier', outboundAgentRef }),
    );
    const object = await cluster.reason('PhoneNumber', org, 'native', 'Synced', 'TerminationNotConfigured');
    expect(condition(object, 'Synced')?.message).toContain('PARLEY_NATIVE_TERMINATION_URI');
    // The number takes calls.
    expect(condition(object, 'Ready')?.status).toBe('True');
    expect(await counts(native)).toEqual([1, 0, 0]);

    await operator.stop();
    const settings = {
      PARLEY_NATIVE_TERMINATION_URI: 'sip:out.example.com',
      PARLEY_NATIVE_TERMINATION_USERNAME: 'deployment',
      PARLEY_NATIVE_TERMINATION_PASSWORD: 'its password',
      PARLEY_CARRIER_TERMINATION_URI: 'carrier.example.com',
      PARLEY_SIP_ALLOWED_ADDRESSES: '192.0.2.0/24, 198.51.100.7',
    };
    operator = await cluster.operator({ env: { ...telephony(media), ...settings } });
    await connected('native');
    await connected('carrier');
    const own = await at(native);
    // Callers aren't asked for the login of the deployment.
    expect(own.inbound).toMatchObject([{ authUsername: '', allowedAddresses: ['192.0.2.0/24', '198.51.100.7'] }]);
    expect(own.outbound).toMatchObject([{ address: 'out.example.com', authUsername: 'deployment', authPassword: 'its password' }]);
    expect((await at(carrier)).outbound).toMatchObject([{ address: 'carrier.example.com', authUsername: '' }]);
  });

  it('with an address that leads nowhere are refused by the API server', async () => {
    for (const terminationURI of ['https://example.com', '', 'our trunk'])
      await expect(cluster.apply(aNumber('nowhere', fresh(), { sip: { terminationURI } })), terminationURI).rejects.toThrow(
        /terminationURI/,
      );
  });

  it('with an address inside are not ready, and go on with what they had', async () => {
    const number = fresh();
    const leading = (terminationURI: string) =>
      aNumber('inward', number, { sip: { terminationURI }, inboundAgentRef: { name: 'answers' } });
    await cluster.apply(leading('a.example.com'));
    await connected('inward');
    const before = await at(number);
    for (const terminationURI of ['sip:127.0.0.1:39990', '0x7f.1', 'sip:[::ffff:10.0.0.1]:5061', 'sip:redis']) {
      await cluster.apply(leading(terminationURI));
      const object = await cluster.reason('PhoneNumber', org, 'inward', 'Ready', 'AddressForbidden');
      expect(condition(object, 'Ready')).toMatchObject({ status: 'False', message: expect.stringContaining('spec.sip.terminationURI') });
      expect(await at(number)).toEqual(before);
    }
    await cluster.apply(leading('b.example.com'));
    await connected('inward');
    await eventually(async () => expect((await at(number)).outbound).toMatchObject([{ address: 'b.example.com' }]));
  });
});

describe('a media server', () => {
  let lonely: SipMediaServer | undefined;
  afterEach(async () => {
    await lonely?.stop();
    lonely = undefined;
  });

  it('that hangs holds up nothing but phone numbers, and shows when it goes on', async () => {
    const [before, during] = [fresh(), fresh()];
    await cluster.apply(aNumber('before', before, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    await connected('before');
    process.kill(media.pid('livekit') ?? 0, 'SIGSTOP');
    try {
      await cluster.apply(aNumber('during', during, { sip: {}, inboundAgentRef: { name: 'answers' } }));
      await cluster.apply(anAgent('meanwhile', org));
      await cluster.ready('Agent', org, 'meanwhile');
      const object = await cluster.reason('PhoneNumber', org, 'during', 'Synced', 'MediaServerUnavailable');
      expect(condition(object, 'Ready')).toMatchObject({ status: 'False' });
      // A number that was in step is believed to be.
      expect(condition(await cluster.get('PhoneNumber', org, 'before'), 'Synced')?.reason).toBe('TrunksReady');
    } finally {
      process.kill(media.pid('livekit') ?? 0, 'SIGCONT');
    }
    await connected('during');
    expect(await counts(during)).toEqual([1, 0, 1]);
  });

  it('without Redis keeps no trunks, and numbers say so', async () => {
    lonely = await startSipMediaServer({ withRedis: false });
    await operator.stop();
    operator = await cluster.operator({ env: telephony(lonely) });
    const number = fresh();
    await cluster.apply(aNumber('no-sip', number, { sip: {}, inboundAgentRef: { name: 'answers' } }));
    const object = await cluster.reason('PhoneNumber', org, 'no-sip', 'Synced', 'MediaServerWithoutTrunks');
    expect(condition(object, 'Synced')?.message).toContain('Redis');
    expect(condition(object, 'Ready')?.status).toBe('True');
    // Nothing was made, so that nothing is in the way.
    await cluster.remove('PhoneNumber', org, 'no-sip');
    await eventually(async () => {
      await expect(cluster.get('PhoneNumber', org, 'no-sip')).rejects.toMatchObject({ notFound: true });
    });
  });
});
