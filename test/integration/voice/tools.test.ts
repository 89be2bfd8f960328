/**
 * Tests what the servers of tools get in real calls, and what the model gets. When tools run, and what is heard, is in
 * test/simulated-calls.
 */
import { randomBytes } from 'node:crypto';

import { dispose } from '@livekit/rtc-node';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { RevisionTool } from '../../../crds/agent-revision.ts';
import { createTransport, KubeError, kubeConfigOf } from '../../../kube/index.ts';
import { Servers, sendJson, startEndpoint, type TestEndpoint } from '../../support/http-servers.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { aKnowledgeBase } from '../../support/knowledge-base.ts';
import type { ReceivedChat, ToolCallScript } from '../../support/provider-server.ts';
import { openStage, type VoiceStage, type StagedCall } from './stage.ts';

const servers = new Servers();
const secretName = `tool-${randomBytes(4).toString('hex')}`;
const secret = 'sk-live-never-to-be-seen';
const mails: string[] = [];

let stage: VoiceStage;
let smtp: SMTPServer;
let calendar: TestEndpoint;
let models: TestEndpoint;

beforeAll(async () => {
  const { kubeconfig } = await controlPlane();
  smtp = new SMTPServer({
    logger: false,
    onAuth: ({ username = '' }, _session, done) => done(null, { user: username }),
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (part: Buffer) => chunks.push(part));
      stream.on('end', () => {
        mails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
  });
  const listener = smtp.listen(0, '127.0.0.1');
  await new Promise((resolve) => listener.once('listening', resolve));
  calendar = await startEndpoint(servers, (response) =>
    sendJson(response, { status: 'success', data: { '2030-01-07': [{ start: '2030-01-07T09:00:00.000Z' }] } }),
  );
  // All questions mean the same, and the longest passage fits best. Each request costs as many tokens as it has characters.
  models = await startEndpoint(servers, (response, { body }) => {
    const { input, documents = [] } = JSON.parse(body) as { readonly input?: readonly string[]; readonly documents?: readonly string[] };
    const data = input?.map((_, index) => ({ index, embedding: [1, 0] }));
    const results = documents.map((text, index) => ({ index, relevance_score: text.length / 1_000 }));
    sendJson(response, { usage: { total_tokens: body.length }, ...(data === undefined ? { results } : { data }) });
  });
  const address = listener.address();
  const server = { provider: 'openai_compatible', baseURL: `${models.url}/v1` };
  stage = await openStage({
    PARLEY_EMBEDDING_PROFILES: JSON.stringify([
      { name: 'default', provider: 'lexical', model: 'bm25' },
      { name: 'meaning', model: 'vectors', dimension: 2, ...server },
    ]),
    PARLEY_RERANK_PROFILES: JSON.stringify([{ name: 'longest', model: 'm', ...server }]),
    PARLEY_PRICES: JSON.stringify([
      { kind: 'embedding', provider: 'openai_compatible', currency: 'EUR', inputPerMillionTokens: 1 },
      { kind: 'rerank', provider: 'openai_compatible', currency: 'EUR', perThousandSearches: 2 },
    ]),
    KUBECONFIG: kubeconfig,
    PARLEY_SMTP_SERVERS: `*=smtp://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    PARLEY_CALENDAR_URL: `${calendar.url}/v2`,
  });
  await keepSecret(kubeconfig, stage.org);
});
afterAll(async () => {
  await stage.close();
  await servers.stop();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  await dispose();
});

async function keepSecret(kubeconfig: string, org: string): Promise<void> {
  const transport = createTransport({ kubeConfig: kubeConfigOf({ KUBECONFIG: kubeconfig }) });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: org } };
  await transport.request({ method: 'POST', path: '/api/v1/namespaces', body: namespace }).catch((error: unknown) => {
    if (!(error instanceof KubeError) || error.code !== 409) throw error;
  });
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName },
    stringData: { key: `Bearer ${secret}`, password: secret },
  };
  await transport.request({ method: 'POST', path: `/api/v1/namespaces/${org}/secrets`, body });
  await transport.close();
}

type Http = NonNullable<RevisionTool['spec']['custom']>['http'];

function custom(name: string, http: Partial<Http> & { url: string }, messages: RevisionTool['spec']['messages'] = {}): RevisionTool {
  const parameters = { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } }, required: ['id'] };
  const fn = { name, description: `Does ${name}.`, parameters };
  return {
    name,
    functionName: name,
    spec: { type: 'Custom', custom: { function: fn, http: { method: 'GET', timeout: '20s', ...http } }, messages },
  };
}

/** The model calls these once, and says `then` when it has their results. */
function calls(call: Pick<StagedCall, 'provider'>, toolCalls: readonly ToolCallScript[], then = 'That is done.'): void {
  call.provider.chat(({ toolResults }) => (toolResults.length === 0 ? { toolCalls } : then));
}

const contents = (request: ReceivedChat | undefined) => request?.toolResults.map(({ content }) => content);
const said = async (call: StagedCall) => (await call.messages()).map(({ role, content }) => `${role}: ${content}`);

describe.concurrent('tools', () => {
  it('are called by every method, with what the owner and the call add, and no secret comes back', async () => {
    const endpoint = await startEndpoint(servers, (response, { method, headers }) => sendJson(response, { did: method, echo: headers }));
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
    const headers = [
      { name: 'Authorization', valueFrom: { secretKeyRef: { name: secretName, key: 'key' } } },
      { name: 'X-Caller', value: '{{caller}}' },
    ];
    const given = { fixedParams: { note: { value: 'fixed' } }, runtimeParams: { caller: {} } };
    const call = await stage.joined({
      dynamicData: { caller: 'Ada' },
      tools: methods.map((method) => custom(`do_${method}`, { url: `${endpoint.url}/items/{id}`, method, headers, ...given })),
    });
    calls(
      call,
      methods.map((method) => ({ name: `do_${method}`, arguments: { id: 'a b', note: 'mine' } })),
    );
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('That is done.');

    expect(endpoint.requests.map(({ method }) => method).toSorted((a, b) => a.localeCompare(b))).toEqual(
      methods.toSorted((a, b) => a.localeCompare(b)),
    );
    for (const { method, url, headers: sent, body } of endpoint.requests) {
      expect([sent.authorization, sent['x-caller']]).toEqual([`Bearer ${secret}`, 'Ada']);
      const inQuery = method === 'GET' || method === 'DELETE';
      expect(url).toBe(`/items/a%20b${inQuery ? '?caller=Ada&note=fixed' : ''}`);
      if (!inQuery) expect(JSON.parse(body)).toEqual({ note: 'fixed', caller: 'Ada' });
    }
    const asked = call.provider.requests('chat');
    const results = contents(asked.at(-1)) ?? [];
    expect(results).toHaveLength(5);
    for (const method of methods)
      expect(results.some((content) => content.includes(`"did":"${method}"`) && content.includes('********'))).toBe(true);
    // The model sees what the owner of a tool wrote about it.
    const offered = (asked[0]?.body['tools'] ?? []) as { function: { name: string; parameters: unknown; description: string } }[];
    expect(offered.find(({ function: { name } }) => name === 'do_GET')?.function).toMatchObject({
      description: 'Does do_GET.',
      parameters: { type: 'object', properties: { id: { type: 'string' }, note: { type: 'string' } }, required: ['id'] },
    });
    await eventually(async () => expect(await said(call)).toEqual(['user: hello', 'agent: That is done.']));
    const everything = JSON.stringify([call.provider.requests(), await call.messages(), await call.record(), stage.role.output()]);
    expect(everything).not.toContain('never-to-be-seen');
  });

  it('are reported to the model when they fail, and the call goes on', async () => {
    const endpoint = await startEndpoint(servers, (response) => sendJson(response, {}));
    const transfer: RevisionTool = {
      name: 't',
      functionName: 'transfer_call',
      spec: { type: 'TransferCall', transferCall: { to: '+15550100', mode: 'Cold', callerID: 'Agent' } },
    };
    const call = await stage.joined({
      tools: [
        custom('needs_id', { url: `${endpoint.url}/{id}` }, { start: 'Not to be heard.' }),
        custom('inside', { url: 'http://169.254.169.254/latest' }, { failed: 'I may not.' }),
        transfer,
      ],
    });
    calls(call, [{ name: 'needs_id', arguments: { note: 5 } }, { name: 'inside', arguments: { id: '1' } }, { name: 'transfer_call' }]);
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('I may not.');
    await call.caller.hears('That is done.');
    const results = contents(call.provider.requests('chat').at(-1))?.join('\n');
    expect(results).toContain("must have required property 'id'");
    expect(results).toContain('not set up correctly');
    expect(results).not.toContain('169.254');
    expect(results).toMatch(/web call/i);
    expect(endpoint.requests).toEqual([]);
    expect(await said(call)).not.toContain('agent: Not to be heard.');
    expect((await call.record()).status).toBe('ongoing');
  });

  it('write mails and look into the calendar', async () => {
    const ref = { name: secretName, key: 'password' };
    const call = await stage.joined({
      tools: [
        {
          name: 'm',
          functionName: 'send_email',
          spec: { type: 'SendEmail', sendEmail: { from: 'desk@hotel.example', passwordSecretRef: ref } },
        },
        {
          name: 'c',
          functionName: 'check_calendar_availability',
          spec: {
            type: 'CheckCalendarAvailability',
            checkCalendarAvailability: { eventTypeID: '123', apiKeySecretRef: ref, timeZone: 'Europe/Berlin' },
          },
        },
      ],
    });
    calls(call, [
      { name: 'send_email', arguments: { to: 'ada@guest.example', subject: 'Your room', body: 'It is ready.' } },
      { name: 'check_calendar_availability', arguments: { start_date: '2030-01-07' } },
    ]);
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('That is done.');
    expect(mails).toEqual([expect.stringMatching(/From: desk@hotel\.example[\s\S]*To: ada@guest\.example[\s\S]*It is ready\./)]);
    expect(calendar.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    expect(contents(call.provider.requests('chat').at(-1))?.join()).toContain('2030-01-07T10:00:00');
  });

  it('look things up in the knowledge base, and what was found is kept with the answer', async () => {
    await aKnowledgeBase(stage, 'faq', 'Breakfast is served from seven to ten.');
    const call = await stage.joined({ knowledgeBase: 'faq' });
    calls(call, [{ name: 'search_knowledge_base', arguments: { query: 'When is breakfast?' } }], 'From seven to ten.');
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('From seven to ten.');
    expect(contents(call.provider.requests('chat').at(-1))?.join()).toContain('Breakfast is served from seven to ten.');
    const answer = await eventually(async () => {
      const found = (await call.messages()).find(({ content }) => content === 'From seven to ten.');
      expect(found).toBeDefined();
      return found;
    });
    expect(answer?.sources).toMatchObject([{ knowledge_base: 'faq', filename: 'faq.txt', score: expect.any(Number) }]);
  });

  it("find first what the model of the rerank profile puts first, and its tokens and those of the question are the call's", async () => {
    const short = 'The gate opens at nine.';
    const long = 'The gate opens at nine in the morning, and whoever comes later rings the bell at the side door.';
    const profiles = { rerankProfile: 'longest', profile: 'meaning', model: 'vectors' };
    await aKnowledgeBase(stage, 'gates', short, { ...profiles, dense: Float32Array.of(1, 0) });
    await aKnowledgeBase(stage, 'gates', long, { ...profiles, dense: Float32Array.of(0, 1) });
    const call = await stage.joined({ knowledgeBase: 'gates' });
    calls(call, [{ name: 'search_knowledge_base', arguments: { query: 'The gate opens at nine' } }], 'At nine.');
    await call.becomes({ status: 'ongoing' });
    await call.says('hello');
    await call.caller.hears('At nine.');
    expect(models.requests.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      ['/v1/embeddings', expect.objectContaining({ input: ['The gate opens at nine'] })],
      ['/v1/rerank', expect.objectContaining({ query: 'The gate opens at nine', documents: [short, long] })],
    ]);
    const seen = contents(call.provider.requests('chat').at(-1))?.join() ?? '';
    expect(seen.indexOf(long)).toBeGreaterThan(-1);
    expect(seen.indexOf(short)).toBeGreaterThan(seen.indexOf(long));
    const [question = 0, passages = 0] = models.requests.map(({ body }) => body.length);
    await eventually(async () => {
      const used = await stage.store.calls.usage.ofCall({ org: stage.org, id: call.id });
      expect(used.filter(({ kind }) => kind === 'embedding' || kind === 'rerank')).toMatchObject([
        {
          kind: 'embedding',
          model: 'vectors',
          requests: 1,
          estimatedRequests: 0,
          inputTokens: question,
          cost: { micros: BigInt(question) },
        },
        { kind: 'rerank', model: 'm', requests: 1, estimatedRequests: 0, inputTokens: passages, cost: { micros: 2_000n } },
      ]);
    });
  });
});
