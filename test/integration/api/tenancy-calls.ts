/** Requests the routes of calls, for the model of two organisations. No user joins these calls: they stay as they were made. */
import { anId, atMost, pick, same, type Generator, type Situation } from './tenancy-model.ts';

const callId = (situation: Situation): string => anId(situation, [...situation.own.calls.keys()], [...situation.foreign.calls.keys()]);

const recordings = (path: string): Generator => {
  return (situation) => {
    const { own, random } = situation;
    const broken = random() < 0.2;
    const call_id = callId(situation);
    return {
      request: { path, body: broken ? { call_id: 5 } : { call_id } },
      // None of the organisation's calls is over.
      expected: { status: broken ? 422 : own.calls.has(call_id) ? 409 : 404 },
    };
  };
};

/** Asks something of a call while it goes on: the organisation's own have not begun. */
const command = (name: string, good: object, bad: object): Generator => {
  return (situation) => {
    const id = callId(situation);
    const broken = situation.random() < 0.2;
    return {
      request: { path: `/v1/calls/${id}/${name}`, body: broken ? bad : good },
      expected: { status: broken ? 422 : situation.own.calls.has(id) ? 409 : 404 },
    };
  };
};

/** Asks for the means to join a call that goes on: the organisation's own have not begun. */
const entrance = (name: string): Generator => {
  return (situation) => {
    const id = callId(situation);
    return { request: { path: `/v1/calls/${id}/${name}` }, expected: { status: situation.own.calls.has(id) ? 409 : 404 } };
  };
};

export const callGenerators: Readonly<Record<string, Generator>> = {
  // The calls have used nothing.
  'GET /v1/usage': ({ random }) => {
    const by = pick(random, ['agent', 'day', 'model', 'weather'] as const) ?? 'agent';
    return {
      request: { path: '/v1/usage', query: `group_by=${by}` },
      expected: { status: by === 'weather' ? 422 : 200, learn: ({ body }) => same(body.data, [], 'the usage of calls') },
    };
  },
  'POST /v1/calls/create-web-call': (situation) => {
    const { own, foreign, random } = situation;
    const agent = pick(random, [own.servedAgent, own.servedAgent, foreign.servedAgent, 'agent-aaaaaaaaaaaaaaaa', '']) ?? '';
    const broken = own.calls.size >= atMost || random() < 0.2;
    const metadata = broken ? 5 : { whose: own.marker };
    return {
      request: { path: '/v1/calls/create-web-call', body: { ai_agent_id: agent, metadata } },
      expected: {
        status: broken ? 422 : agent === own.servedAgent ? 201 : 404,
        learn: ({ body }) => void own.calls.set(body._id as string, own.servedAgent),
      },
    };
  },
  // Postgres says whose a number is: one of another organisation doesn't exist.
  'POST /v1/calls/dial-outbound-phone-call': ({ random }) => {
    const broken = random() < 0.3;
    return {
      request: {
        path: '/v1/calls/dial-outbound-phone-call',
        body: { from_number: broken ? 'reception' : '+15550100', to_number: '+15550199' },
      },
      expected: { status: broken ? 422 : 404 },
    };
  },
  'GET /v1/calls': ({ own, foreign, random }) => {
    const agent = pick(random, [own.servedAgent, foreign.servedAgent, undefined]);
    const ids = agent === foreign.servedAgent ? [] : [...own.calls.keys()].toSorted();
    return {
      request: { path: '/v1/calls', query: `sort_direction=asc${agent === undefined ? '' : `&ai_agent_ids=${agent}`}` },
      expected: {
        status: 200,
        learn: ({ body }) =>
          same([(body.calls as { _id: string }[]).map(({ _id }) => _id), body.total_count], [ids, ids.length], 'the list of calls'),
      },
    };
  },
  'GET /v1/calls/:call_id': (situation) => {
    const id = callId(situation);
    const agent = situation.own.calls.get(id);
    return {
      request: { path: `/v1/calls/${id}` },
      expected: {
        status: agent === undefined ? 404 : 200,
        learn: ({ body }) => same([body.ai_agent_id, body.metadata], [agent, { whose: situation.own.marker }], `the call ${id}`),
      },
    };
  },
  // None of the organisation's own calls is over.
  'DELETE /v1/calls/:call_id': (situation) => {
    const id = callId(situation);
    return { request: { path: `/v1/calls/${id}` }, expected: { status: situation.own.calls.has(id) ? 409 : 404 } };
  },
  'GET /v1/calls/:call_id/commands': (situation) => {
    const id = callId(situation);
    return {
      request: { path: `/v1/calls/${id}/commands` },
      expected: {
        status: situation.own.calls.has(id) ? 200 : 404,
        learn: ({ body }) => situation.own.calls.has(id) && same(body, { data: [] }, `the commands of ${id}`),
      },
    };
  },
  // The organisation's own calls are left out: their events would come until they are over.
  'GET /v1/calls/:call_id/events': (situation) => ({
    request: { path: `/v1/calls/${anId(situation, [], [...situation.foreign.calls.keys()])}/events` },
    expected: { status: 404 },
  }),
  'POST /v1/calls/:call_id/listen': entrance('listen'),
  'POST /v1/calls/:call_id/take-over': entrance('take-over'),
  'POST /v1/calls/:call_id/say': command('say', { text: 'Hello.' }, { text: ' ' }),
  'POST /v1/calls/:call_id/instructions': command('instructions', { text: 'Be kind.' }, {}),
  'POST /v1/calls/:call_id/transfer': command('transfer', { to: '+15550199' }, { to: 5 }),
  'POST /v1/calls/:call_id/mute': command('mute', { muted: true }, { muted: 'maybe' }),
  // The organisation's own calls are left out: they stay as they were made.
  'POST /v1/calls/:call_id/end': (situation) => ({
    request: { path: `/v1/calls/${anId(situation, [], [...situation.foreign.calls.keys()])}/end` },
    expected: { status: 404 },
  }),
  'GET /v2/ai-agents/:ai_agent_id/postcall-analysis/results/:call_id': (situation) => {
    const { own, foreign, random } = situation;
    const id = callId(situation);
    const agent = pick(random, [own.servedAgent, own.servedAgent, foreign.servedAgent, 'agent-aaaaaaaaaaaaaaaa']) ?? '';
    const found = own.calls.get(id) === agent;
    return {
      request: { path: `/v2/ai-agents/${agent}/postcall-analysis/results/${id}` },
      expected: {
        status: found ? 200 : 404,
        learn: ({ body }) => found && same([body.agent_id, body.status, body.items], [agent, 'pending', []], `the results of ${id}`),
      },
    };
  },
  'POST /v1/call-recording/download': recordings('/v1/call-recording/download'),
  'POST /v1/call-recording/signed-url': recordings('/v1/call-recording/signed-url'),
};
