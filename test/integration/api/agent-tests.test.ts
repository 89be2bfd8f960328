import { beforeAll, describe, expect, it } from 'vitest';

import type { AgentTest } from '../../../crds/index.ts';
import { anAgentRequest, anAgentTest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { brief, canary, kubectl, kubectlJson, organization, startFacade } from './facade.ts';

const all = '/v1/agent-tests';
const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));
const theirs = suiteFixture(() => organization(facade));
let agent: string;

beforeAll(async () => {
  agent = (await ours.call('POST', '/v2/ai-agents', anAgentRequest('A'))).body.ai_agent_id;
});

const stored = (id: string) => kubectlJson<AgentTest>(['get', 'agenttest', id, '-n', ours.name]);

const body = (test_id: string) => ({
  test_id,
  ai_agent_ids: [agent],
  required: true,
  dynamic_data: { customer: 'Ada' },
  tools: [{ name: 'look_up', when: { id: '42' }, sequence: [{ error: 'busy' }, { returns: { state: 'shipped' } }], delay: '100ms' }],
  conversation: [
    {
      user: 'Hours?',
      expect: [
        { answer: { contains: ['nine'], max_words: 40 } },
        { tool: { name: 'look_up', times: 1, arguments: { id: { equals: '42' } } } },
        { tool: { name: 'cancel', unknown: true } },
      ],
    },
    { keys: '1#', expect: [{ ends: 'agent_ended_call' }] },
  ],
  at_end: [{ never_called: 'transfer_call' }, { analysis: { name: 'topic', equals: true } }],
  judge: { model_provider: 'openai', model_name: 'm', api_key: canary() },
  repeat: 3,
  pass_at_least: 2,
  schedule: '0 6 * * *',
  time_zone: 'Europe/Berlin',
});

describe('agent tests', () => {
  it('come back as they were sent, and unchanged when sent back whole', async () => {
    const sent = body('hours');
    const made = await ours.call('POST', all, sent);
    expect(made.status).toBe(201);
    const shown = { ...sent, judge: { ...sent.judge, api_key: '********' } };
    expect(made.body).toMatchObject({ ...shown, mode: 'text', timeout: '2m', results: [] });
    const before = await stored('hours');
    expect(before.spec).toMatchObject({
      agentRefs: [{ name: agent }],
      tools: [{ type: 'Sequence', sequence: [{ type: 'Error' }, { type: 'Returns' }] }],
      type: 'Conversation',
      conversation: [
        {
          type: 'User',
          expect: [
            { type: 'Answer', answer: { contains: ['nine'], maxWords: 40 } },
            { type: 'Tool' },
            { type: 'Tool', tool: { name: 'cancel', unknown: true } },
          ],
        },
        { type: 'Keys', keys: '1#' },
      ],
      atEnd: [{ type: 'NeverCalled' }, { type: 'Analysis' }],
      judge: { provider: 'openai', apiKeySecretRef: { name: 'agenttest-hours' } },
      passAtLeast: 2,
    });
    const { state: _state, results: _results, created_at: _created, updated_at: _updated, ...whole } = made.body;
    expect((await ours.call('PUT', `${all}/hours`, whole)).status).toBe(200);
    expect((await stored('hours')).spec).toEqual(before.spec);
    expect((await ours.call('GET', `${all}/hours`)).body).toMatchObject(shown);
    expect(JSON.stringify(await stored('hours'))).not.toContain(sent.judge.api_key);
  });

  it('change by what is given, and go', async () => {
    await ours.call('POST', all, body('changed'));
    const changed = await ours.call('PUT', `${all}/changed`, {
      judge: null,
      conversation: null,
      simulated_user: { goal: 'find out the hours', max_turns: 3 },
      pass_at_least: null,
    });
    expect(changed.status).toBe(200);
    const { spec } = await stored('changed');
    expect(spec).toMatchObject({ required: true, type: 'SimulatedUser', simulatedUser: { goal: 'find out the hours', maxTurns: 3 } });
    for (const gone of ['judge', 'conversation', 'passAtLeast']) expect(spec).not.toHaveProperty(gone);
    expect((await ours.call('DELETE', `${all}/changed`)).status).toBe(200);
    expect((await ours.call('GET', `${all}/changed`)).status).toBe(404);
  });

  it('are refused with the place of what is wrong', async () => {
    const wrong = await ours.call('POST', all, {
      ...body('wrong'),
      ai_agent_ids: [agent, 'absent'],
      tools: [{ name: 'look_up' }, { name: 'look_up', error: 'e', passthrough: true }, { name: 'look_up', sequence: [{}] }],
      conversation: [
        { user: 'Hi', expect: [{ answer: { matches: '(' } }] },
        { user: 'Hi', keys: '1', expect: [{ judge: 'j', within: '1s' }] },
      ],
      at_end: [{}],
      schedule: '99 * * * *',
    });
    expect(wrong.status).toBe(422);
    expect(brief(wrong).toSorted()).toEqual([
      'body.ai_agent_ids.1 value_error',
      'body.at_end.0 value_error',
      'body.conversation.0.expect.0.answer.matches value_error',
      'body.conversation.1 value_error',
      'body.conversation.1.expect.0 value_error',
      'body.schedule value_error',
      'body.tools.0 value_error',
      'body.tools.1 value_error',
      'body.tools.2.sequence.0 value_error',
    ]);
    expect(wrong.body.detail.map(({ msg }: { msg: string }) => msg)).toEqual(
      expect.arrayContaining([
        'Value error, set exactly one of returns, error, sequence, passthrough',
        'Value error, set exactly one of user, keys',
        'Value error, set exactly one of never_called, called, handoff, analysis, judge, ends',
      ]),
    );
    const both = await ours.call('POST', all, { ...body('both'), simulated_user: { goal: 'g' } });
    expect(both.status).toBe(422);
    expect(both.body.detail).toMatchObject([{ loc: ['body'], msg: 'Value error, set exactly one of conversation, simulated_user' }]);
    await ours.call('POST', all, body('taken'));
    expect((await ours.call('POST', all, body('taken'))).status).toBe(409);
  });

  it('are refused where a part of what is stored would lack a field', async () => {
    const { judge: _judge, ...rest } = body('partial');
    await ours.call('POST', all, rest);
    const answer = await ours.call('PUT', `${all}/partial`, { judge: { model_name: 'm' } });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([{ type: 'missing', loc: ['body', 'judge', 'model_provider'], msg: 'Field required' }]);
  });

  it('of one test_id are made once, however many requests on two replicas want it', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      for (let round = 0; round < 4; round += 1) {
        const id = `contested-${round}`;
        const bodies = Array.from({ length: 6 }, (_, n) => ({ ...body(id), repeat: n + 2 }));
        const answers = await Promise.all(
          bodies.map((each, n) => (n % 2 ? facade : replica).call('POST', all, { body: each, key: ours.key })),
        );
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409]);
        const winner = bodies[answers.findIndex(({ status }) => status === 201)];
        expect((await stored(id)).spec.repeat).toBe(winner?.repeat);
        const { data } = await kubectlJson<{ data: object }>(['get', 'secret', `agenttest-${id}`, '-n', ours.name]);
        expect(Object.values(data)).toEqual([Buffer.from(winner?.judge.api_key ?? '').toString('base64')]);
      }
    } finally {
      await replica.close();
    }
  });

  it('are those of kubectl, listed page by page, and of no other organisation', async () => {
    await kubectl(['apply', '-f', '-'], anAgentTest('by-kubectl', agent, ours.name));
    await eventually(async () => {
      const { body: listed } = await ours.call('GET', `${all}?page_size=100`);
      expect(listed.data.map(({ test_id: id }: { test_id: string }) => id)).toContain('by-kubectl');
    });
    expect((await theirs.call('GET', all)).body.data).toEqual([]);
    for (const method of ['GET', 'PUT', 'DELETE'] as const)
      expect((await theirs.call(method, `${all}/by-kubectl`, method === 'PUT' ? {} : undefined)).status).toBe(404);
  });
});
