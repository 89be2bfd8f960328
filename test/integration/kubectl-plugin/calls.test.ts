import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { aSecret } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { realMediaServer, serveAgent } from '../api/calls-support.ts';
import { someUsage } from '../store/calls-support.ts';
import { organization, startFacade } from '../api/facade.ts';
import { chartLabels, grant, pod, startPlugin } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
const facade = suiteFixture(async () => startFacade({ calls: { mediaServer: await realMediaServer() } }));
const org = suiteFixture(() => organization(facade));
let system: string;
let relay: Server;
let live: string;
let over: string;
let revision: string;

/** This address isn't of the loopback, because the API server proxies to none of those. */
const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

beforeAll(async () => {
  system = await organizationNamespace('callsystem');
  revision = await serveAgent(facade.store, org.name, 'reception');
  await serveAgent(facade.store, org.name, 'billing');
  const make = async (agent: string): Promise<string> =>
    ((await org.call('POST', '/v1/calls/create-web-call', { ai_agent_id: agent })).body as { _id: string })._id;
  [over, live] = [await make('reception'), await make('billing')];
  const { calls } = facade.store.calls;
  const ref = { org: org.name, id: over, events: () => [] };
  await calls.start({ ...ref, jobId: 'j' });
  const said = (seq: number, role: 'agent' | 'user', content: string) => ({
    seq,
    role,
    content,
    spokenAt: new Date(),
    interrupted: false,
    sources: null,
  });
  await facade.store.calls.log.add(ref, { messages: [said(1, 'agent', 'Good morning.'), said(2, 'user', 'Are you open?')], turns: [] });
  await calls.end({ ...ref, reason: 'user_ended_call' });

  relay = createServer((client) => {
    const upstream = connect(Number(new URL(facade.url).port), '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => relay.listen(0, '0.0.0.0', resolve));
  const ip = address ?? expect.fail('these tests need an IPv4 address other than that of the loopback: give this machine a network');
  // The address has to be that of a pod.
  const targetRef = { kind: 'Pod', name: 'parley-api-0', namespace: system };
  const ports = [{ name: 'http', port: (relay.address() as AddressInfo).port, protocol: 'TCP' }];
  await plugin.put(
    pod('api', system, { ip }),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'parley-api', namespace: system, labels: chartLabels('api') },
      spec: { ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] },
    },
    // One part is what the proxy of an API server of 1.34 looks up, the other what that of 1.37 does.
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'parley-api', namespace: system },
      subsets: [{ addresses: [{ ip, targetRef }], ports }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'parley-api', namespace: system, labels: { 'kubernetes.io/service-name': 'parley-api' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [ip], conditions: { ready: true }, targetRef }],
      ports,
    },
    aSecret('parley-api-key', { apiKey: org.key }, org.name),
  );
});
afterAll(async () => {
  relay?.close();
});

const flags = () => ['-n', org.name, '--system-namespace', system];

describe("kubectl parley calls, through the API server's proxy", () => {
  it('lists live and recent calls with the key of the organisation', async () => {
    const { code, stdout, stderr } = await plugin.kubectl(['parley', 'calls', ...flags()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [header, first, second, ...rest] = stdout.trimEnd().split('\n');
    expect(header).toMatch(/^ID +AGENT +STATE +STARTED +DURATION +REASON$/);
    expect(first).toMatch(new RegExp(`^${live} +billing +registered +- +-$`));
    expect(second).toMatch(new RegExp(`^${over} +reception +ended +\\d+[smh] ago +\\d+[smh] +user_ended_call$`));
    expect(rest).toEqual([]);
  });

  it('narrows the list down, and gives it to programs without what opens a room', async () => {
    const ids = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await plugin.parley(['calls', ...flags(), '-o', 'json', ...args]);
      expect(stdout).not.toContain('access_token');
      return (JSON.parse(stdout) as { calls: { _id: string }[] }).calls.map(({ _id: id }) => id);
    };
    expect(await ids()).toEqual([live, over]);
    expect(await ids('--agent', 'reception')).toEqual([over]);
    expect(await ids('--status', 'live')).toEqual([live]);
    expect(await ids('--status', 'ended')).toEqual([over]);
    expect(await ids('--limit', '1')).toEqual([live]);
    expect((await plugin.parley(['calls', ...flags(), '-o', 'wide', '--agent', 'reception'])).stdout).toMatch(
      new RegExp(`^ID .* REASON +REVISION +TYPE .*\\n${over} .* user_ended_call +${revision.slice(0, 12)} +web_call `),
    );
    expect((await plugin.parley(['calls', ...flags(), '--agent', 'absent'])).stderr).toBe('parley: no calls\n');
  });

  it('shows a call with what was said', async () => {
    const { code, stdout } = await plugin.parley(['calls', over, ...flags()]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/State: +ended \(user_ended_call\)/);
    expect(stdout).toMatch(new RegExp(`^Revision: +${revision.slice(0, 12)}$`, 'm'));
    expect(stdout).toMatch(/\d+:\d\d {2}agent {2}Good morning\.\n {2}\d+:\d\d {2}user {3}Are you open\?/);
    const absent = await plugin.parley(['calls', 'call_nowhere', ...flags()]);
    expect(absent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('there is no call "call_nowhere"') });
  });

  it('shows what calls have cost, and sums', async () => {
    await facade.store.calls.log.add({ org: org.name, id: over }, { usage: someUsage() });
    await facade.store.calls.log.add({ org: org.name, id: live }, { usage: someUsage({ cost: null }) });
    const { code, stdout } = await plugin.parley(['calls', ...flags(), '--cost']);
    expect(code).toBe(0);
    const day = String.raw`\d{4}-\d\d-\d\d`;
    expect(stdout).toMatch(new RegExp(`^ID +AGENT +DAY +COST\n${live} +billing +${day} +-\n${over} +reception +${day} +0\\.01 USD\n`));
    expect(stdout).toMatch(/^AGENT +CALLS +COST +WITHOUT A PRICE\nbilling +1 +- +llm openai m\nreception +1 +0\.01 USD/m);
    expect(stdout).toMatch(/^DAY +CALLS +COST +WITHOUT A PRICE\n\d{4}-\d\d-\d\d +2 +- +llm openai m/m);
    const { stdout: json } = await plugin.parley(['calls', ...flags(), '--cost', '--agent', 'reception', '-o', 'json']);
    expect(JSON.parse(json)).toMatchObject({
      calls: [{ _id: over, cost: { amount: '0.01', currency: 'USD' } }],
      by_agent: [{ ai_agent_id: 'reception', calls: 1, usage: { cost: { amount: '0.01', currency: 'USD' } } }],
      by_day: [{ calls: 1 }],
    });
    expect((await plugin.parley(['calls', over, ...flags()])).stdout).toMatch(/^Cost: +0\.01 USD$/m);
  });

  it('needs one credential, not two', async () => {
    const ask = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await fetch(`${facade.url}/v1/calls`, { headers })).status;
    expect(await ask({ 'x-parley-api-key': org.key })).toBe(200);
    expect(await ask({ 'x-parley-api-key': 'pk_nonsense' })).toBe(401);
    // Authorization is what counts where there is one.
    expect(await ask({ authorization: 'Bearer pk_nonsense', 'x-parley-api-key': org.key })).toBe(401);
    expect(await ask({})).toBe(401);
  });

  it('prints a call again when it has changed', async () => {
    const stop = new AbortController();
    let output = '';
    const running = plugin.parley(['calls', ...flags(), '--agent', 'billing', '--watch'], {
      signal: stop.signal,
      onOutput: (all) => {
        output = all;
      },
    });
    await eventually(() => expect(output).toMatch(/registered/));
    await facade.store.calls.calls.end({ org: org.name, id: live, reason: 'no_answer', events: () => [] });
    await eventually(() => expect(output).toMatch(/no_answer/));
    stop.abort();
    await running;
    expect(output.match(/^ID/gm)).toHaveLength(1);
  });

  it('says what stands in the way, and who says so', async () => {
    const noSecret = await plugin.parley(['calls', '-n', system, '--system-namespace', system]);
    expect(noSecret).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/no API key: neither PARLEY_API_KEY nor the Secret[\s\S]*→ .*parley keys create/),
    });
    const noKey = await plugin.parley(['calls', ...flags(), '--api-key-secret', 'parley-api-key/other']);
    expect(noKey.stderr).toMatch(/has no key "other"; it has: apiKey/);

    await plugin.put(
      aSecret('weak', { apiKey: await org.keyWith('agents:read') }, org.name),
      aSecret('wrong', { apiKey: 'pk_nonsense' }, org.name),
    );
    expect((await plugin.parley(['calls', ...flags(), '--api-key-secret', 'weak'])).stderr).toMatch(
      /403 this API key lacks the permission calls:read/,
    );
    expect((await plugin.parley(['calls', ...flags(), '--api-key-secret', 'wrong'])).stderr).toMatch(/401 /);

    const user = `caller-of-${org.name}`;
    await plugin.put(...grant(user, org.name, { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }));
    const forbidden = await plugin.parley(['calls', ...flags(), '--as', user]);
    expect(forbidden).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/can't be used through the API server: you may not[\s\S]*services\/proxy/),
    });
    // The Role is that of the documentation.
    await plugin.put(
      ...grant(user, system, { apiGroups: [''], resources: ['services/proxy'], resourceNames: ['http:parley-api:http'], verbs: ['get'] }),
    );
    await eventually(async () => expect(await plugin.parley(['calls', ...flags(), '--as', user])).toMatchObject({ code: 0, stderr: '' }));
    const nowhere = await plugin.parley(['calls', ...flags(), '--api-service', `${system}/nothing`]);
    expect(nowhere.stderr).toContain(`Service ${system}/nothing`);
    expect(nowhere.stderr).toMatch(/there is no Service|no endpoints available for service "nothing"/);
    expect(nowhere.stderr).toContain('--api-service <namespace>/<name>');
  });
});

describe('kubectl parley calls, with an address', () => {
  it("takes PARLEY_URL and PARLEY_API_KEY, unless the command line names a cluster that they aren't for", async () => {
    const env = { PARLEY_URL: facade.url, PARLEY_API_KEY: org.key, PARLEY_ORG: org.name };
    expect((await plugin.parley(['calls', '-n', org.name], { env })).stdout).toContain(over);
    const kubeconfig = await plugin.kubeconfigIn(system);
    const named = await plugin.parley(['calls', '--kubeconfig', kubeconfig], { env });
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining('no API key') });
    const another = await plugin.parley(['calls', '-n', system], { env });
    expect(another).toMatchObject({ code: 1, stderr: expect.stringContaining('no API key') });
    const unreachable = await plugin.parley(['calls', ...flags(), '--api-url', 'http://127.0.0.1:1']);
    expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining('http://127.0.0.1:1 does not answer') });
  });
});
