import { randomInt } from 'node:crypto';

import { beforeAll, describe, expect, it } from 'vitest';

import type { PhoneNumber } from '../../../crds/index.ts';
import { NumberAssignments, NumberPool } from '../../../platform/config/phone-numbers.ts';
import { aPhoneNumber, anAgentRequest } from '../../support/builders.ts';
import { unlimited } from '../../support/limits.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import {
  type RestAnswer,
  brief,
  canary,
  kubectl,
  kubectlJson,
  notLookedAt,
  organization,
  startFacade,
  type TestOrganization,
} from './facade.ts';

const all = '/v1/phone-numbers';
const facade = suiteFixture(startFacade);
const ours = suiteFixture(() => organization(facade));
const theirs = suiteFixture(() => organization(facade));
let agent: string;
let other: string;

const makeAgent = async (org: TestOrganization): Promise<string> =>
  (await org.call('POST', '/v2/ai-agents', anAgentRequest('A'))).body.ai_agent_id;

beforeAll(async () => {
  [agent, other] = [await makeAgent(ours), await makeAgent(ours)];
});

/** The test servers are shared, and numbers are unique among all who use them. */
const number = (): string => `+1${randomInt(1e12, 1e13)}`;
const stored = (id: string): Promise<PhoneNumber> => kubectlJson<PhoneNumber>(['get', 'phonenumber', id, '-n', ours.name]);
const secretValues = async (id: string): Promise<string[]> => {
  const { data } = await kubectlJson<{ data?: Record<string, string> }>(['get', 'secret', `phonenumber-${id}`, '-n', ours.name]);
  return Object.values(data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
};
const common = () => ({ phone_number: number(), friendly_name: 'Front desk', inbound_agent_id: agent, outbound_agent_id: other });
const sip = () => ({
  ...common(),
  provider: 'sip',
  sip_termination_uri: 'sip:trunk.example.com',
  sip_trunk_username: 'trunk',
  sip_trunk_password: canary(),
  sip_infra_region: 'bd_link3',
});
const native = () => ({ ...common(), provider: 'native' });
const carrier = () => ({ ...common(), provider: 'carrier', carrier_account_sid: 'AC1', carrier_auth_token: canary() });
const maskedBody = (body: object): object => ({
  ...body,
  ...('sip_trunk_password' in body && { sip_trunk_password: '********' }),
  ...('carrier_auth_token' in body && { carrier_auth_token: '********' }),
});

describe('phone numbers', () => {
  it.each([
    ['sip', sip],
    ['native', native],
    ['carrier', carrier],
  ])('%s: come back as they were sent, and unchanged when sent back whole', async (_, make) => {
    const sent = make();
    const made = await ours.call('POST', `${all}/`, sent);
    expect(made.status, made.text).toBe(201);
    expect(made.body).toEqual({ _id: expect.stringMatching(/^[a-z0-9-]+-[a-z2-7]{8}$/), state: notLookedAt, ...maskedBody(sent) });
    const path = `${all}/${made.body._id}`;
    for (const slash of ['', '/']) {
      const read = await ours.call('GET', path + slash);
      expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, made.body, made.headers.get('etag')]);
    }
    const whole = await ours.call('PATCH', path, made.body);
    expect([whole.status, whole.body, whole.headers.get('etag')]).toEqual([200, made.body, made.headers.get('etag')]);
    const reader = { key: await ours.keyWith('phone_numbers:write', 'secrets:read') };
    const clear = await ours.call('GET', path, undefined, reader);
    expect(clear.body).toEqual({ ...made.body, ...sent });
    expect((await ours.call('PATCH', path, clear.body, reader)).headers.get('etag')).toBe(made.headers.get('etag'));
    const object = await stored(made.body._id);
    expect(object.spec.deletionPolicy).toBe('Delete');
    expect(JSON.stringify(object)).not.toContain('canary-');
    expect(facade.log()).not.toContain('canary-');
  });

  it('are of the provider sip and empty when only the number is sent', async () => {
    const { body, status } = await ours.call('POST', all, { phone_number: number() });
    expect([status, body]).toEqual([
      201,
      {
        _id: expect.any(String),
        provider: 'sip',
        phone_number: expect.any(String),
        friendly_name: null,
        inbound_agent_id: null,
        outbound_agent_id: null,
        state: notLookedAt,
        sip_termination_uri: null,
        sip_trunk_username: null,
        sip_trunk_password: null,
        sip_infra_region: 'global',
      },
    ]);
  });

  it.each([
    [
      'sip',
      sip,
      ['friendly_name', 'inbound_agent_id', 'outbound_agent_id', 'sip_termination_uri', 'sip_trunk_username', 'sip_trunk_password'],
    ],
    ['native', native, ['friendly_name', 'inbound_agent_id', 'outbound_agent_id']],
    ['carrier', carrier, ['friendly_name', 'inbound_agent_id', 'outbound_agent_id', 'carrier_account_sid', 'carrier_auth_token']],
  ])('%s: a PATCH keeps what is absent and clears what is null, field by field and all at once', async (_, make, fields) => {
    let { body } = await ours.call('POST', all, make());
    const path = `${all}/${body._id}`;
    expect((await ours.call('PATCH', path, {})).body).toEqual(body);
    for (const field of fields) {
      const answer = await ours.call('PATCH', path, { [field]: null });
      expect([answer.status, answer.body], answer.text).toEqual([200, { ...body, [field]: null }]);
      body = answer.body;
    }
    expect((await ours.call('GET', path)).body).toEqual(body);
    const set = make() as Record<string, unknown>;
    const back = Object.fromEntries(fields.map((field) => [field, set[field]]));
    expect((await ours.call('PATCH', path, back)).body).toEqual({ ...body, ...maskedBody(back) });
    const none = Object.fromEntries(fields.map((field) => [field, null]));
    expect((await ours.call('PATCH', path, none)).body).toEqual({ ...body, ...none });
    if (fields.length > 3) expect(await secretValues(body._id)).toEqual([]);
  });

  it('take the fields of their own variant alone, whatever is stored decides', async () => {
    const { body: a } = await ours.call('POST', all, sip());
    const { body: b } = await ours.call('POST', all, carrier());
    const { body: c } = await ours.call('POST', all, native());
    expect((await ours.call('PATCH', `${all}/${a._id}`, { carrier_auth_token: null, friendly_name: 5 })).body.detail).toEqual([
      { type: 'string_type', loc: ['body', 'friendly_name'], msg: 'Input should be a valid string' },
      { type: 'extra_forbidden', loc: ['body', 'carrier_auth_token'], msg: 'Extra inputs are not permitted' },
    ]);
    expect(brief(await ours.call('PATCH', `${all}/${b._id}`, { sip_trunk_password: 'x', provider: 'sip' }))).toEqual([
      'body.provider literal_error',
      'body.sip_trunk_password extra_forbidden',
    ]);
    expect(
      brief(await ours.call('PATCH', `${all}/${c._id}?dry_run=perhaps`, { sip_infra_region: 'bd', carrier_account_sid: 'x' })),
    ).toEqual(['query.dry_run bool_parsing', 'body.sip_infra_region extra_forbidden', 'body.carrier_account_sid extra_forbidden']);
    expect(brief(await ours.call('PATCH', `${all}/${a._id}`, { phone_number: number(), sip_infra_region: 'bd' }))).toEqual([
      'body.phone_number value_error',
      'body.sip_infra_region value_error',
    ]);
    expect((await ours.call('PATCH', `${all}/${c._id}`, { future: 1 })).body).toEqual({ ...c, warnings: ['unknown field "future"'] });
    expect(brief(await ours.call('PATCH', `${all}/${c._id}`, []))).toEqual(['body model_attributes_type']);
    expect(brief(await ours.call('POST', all, { provider: 'carrier', phone_number: '555', sip_trunk_username: 'x' }))).toEqual([
      'body.carrier.phone_number string_pattern_mismatch',
      'body.carrier.carrier_account_sid missing',
      'body.carrier.carrier_auth_token missing',
      'body.carrier.sip_trunk_username extra_forbidden',
    ]);
    expect((await ours.call('POST', all, { provider: 'pigeon', phone_number: number() })).body.detail).toEqual([
      {
        type: 'union_tag_invalid',
        loc: ['body'],
        msg: "Input tag 'pigeon' found using 'provider' does not match any of the expected tags: 'sip', 'native', 'carrier'",
      },
    ]);
    expect(brief(await ours.call('POST', all, {}))).toEqual(['body.sip.phone_number missing']);
  });

  it('keep their secret where the mask comes back, and change it where another one does', async () => {
    const sent = sip();
    const { body } = await ours.call('POST', all, sent);
    const path = `${all}/${body._id}`;
    expect(await secretValues(body._id)).toEqual([sent.sip_trunk_password]);
    await ours.call('PATCH', path, { sip_trunk_password: '********', friendly_name: 'x' });
    expect(await secretValues(body._id)).toEqual([sent.sip_trunk_password]);
    expect((await ours.call('PATCH', path, { sip_trunk_password: 'rotated' })).body.sip_trunk_password).toBe('********');
    expect(await secretValues(body._id)).toEqual(['rotated']);
    await ours.call('PATCH', path, { sip_trunk_password: null });
    expect(await secretValues(body._id)).toEqual([]);
    expect(brief(await ours.call('PATCH', path, { sip_trunk_password: '********' }))).toEqual(['body.sip_trunk_password value_error']);
    expect(brief(await ours.call('POST', all, { ...sip(), sip_trunk_password: '********' }))).toEqual([
      'body.sip_trunk_password value_error',
    ]);
  });

  it("name agents of the organisation: another's is as unknown as one that does not exist", async () => {
    const foreign = await makeAgent(theirs);
    const { body: mine } = await ours.call('POST', all, native());
    for (const id of [foreign, 'absent', 'NOT a name']) {
      const bad = { inbound_agent_id: id, outbound_agent_id: id };
      for (const answer of [await ours.call('POST', all, { ...native(), ...bad }), await ours.call('PATCH', `${all}/${mine._id}`, bad)]) {
        expect(answer.status).toBe(422);
        expect(answer.body.detail).toEqual(
          ['inbound_agent_id', 'outbound_agent_id'].map((field) => ({
            type: 'value_error',
            loc: ['body', field],
            msg: `Value error, there is no AI agent ${JSON.stringify(id)}`,
          })),
        );
      }
    }
    expect((await ours.call('GET', `${all}/${mine._id}`)).body).toEqual(mine);
  });

  it('outlive their agent, and can be sent back as they are', async () => {
    const gone = await makeAgent(ours);
    const { body } = await ours.call('POST', all, { phone_number: number(), inbound_agent_id: gone });
    await kubectl(['delete', 'agent', gone, '-n', ours.name]);
    expect((await ours.call('PATCH', `${all}/${body._id}`, body)).body).toEqual(body);
    expect(brief(await ours.call('PATCH', `${all}/${body._id}`, { outbound_agent_id: gone }))).toEqual([
      'body.outbound_agent_id value_error',
    ]);
  });
});

describe('a native number', () => {
  it('is one of the pool, where the deployment has one', async () => {
    const [pooled, beginning] = [number(), `+3${randomInt(1e6, 1e7)}`];
    const limits = { ...unlimited, nativeNumbers: new NumberPool(`${pooled},${beginning}*`) };
    const pooling = await startFacade({ database: facade.database, limits });
    try {
      const make = (body: object) => pooling.call('POST', all, { body, key: ours.key });
      for (const phone of [pooled, `${beginning}77`])
        expect((await make({ provider: 'native', phone_number: phone })).body).toMatchObject({ provider: 'native', phone_number: phone });
      const outside = number();
      for (const query of ['', '?dry_run=true']) {
        const answer = await pooling.call('POST', all + query, { body: { provider: 'native', phone_number: outside }, key: ours.key });
        expect([answer.status, brief(answer)]).toEqual([422, ['body.phone_number value_error']]);
      }
      expect((await make({ phone_number: outside })).status).toBe(201);
    } finally {
      await pooling.close();
    }
  });
});

describe('a number', () => {
  it('belongs to one object of the deployment, and its owner does not show', async () => {
    const sent = sip();
    const { body } = await ours.call('POST', all, sent);
    const again = await ours.call('POST', all, { ...native(), phone_number: sent.phone_number });
    const foreign = await theirs.call('POST', all, { phone_number: sent.phone_number });
    const dryRun = await theirs.call('POST', `${all}?dry_run=true`, { phone_number: sent.phone_number });
    for (const answer of [again, foreign, dryRun])
      expect([answer.status, answer.body]).toEqual([
        409,
        { error: 'conflict', message: `the phone number ${sent.phone_number} is in use already` },
      ]);
    expect((await theirs.call('GET', all)).body.data).toEqual([]);
    expect((await ours.call('DELETE', `${all}/${body._id}/`)).body).toEqual({ data: {}, message: expect.any(String) });
    expect((await theirs.call('POST', all, { phone_number: sent.phone_number })).status).toBe(409);
    expect((await ours.call('POST', all, { phone_number: sent.phone_number, provider: 'native' })).status).toBe(201);
  });

  it('is reserved for its organisation, which gets it back before any that wait, and goes to others when that is over', async () => {
    const { numberClaims } = facade.store;
    const phone_number = number();
    const release = async (id: string): Promise<void> => {
      const { uid = '' } = (await stored(id)).metadata;
      await ours.call('DELETE', `${all}/${id}`);
      // The operator releases numbers in the same way.
      await numberClaims.release({ org: ours.name, uid, number: phone_number });
    };
    await release((await ours.call('POST', all, { phone_number })).body._id);
    await kubectl(['create', '-f', '-'], aPhoneNumber(`waits-${randomInt(1e9)}`, phone_number, theirs.name));
    for (const query of ['', '?dry_run=true']) {
      const answer = await theirs.call('POST', all + query, { phone_number });
      expect([answer.status, answer.body.message]).toEqual([
        409,
        expect.stringMatching(/is reserved for another organisation until \d{4}-/),
      ]);
    }
    const back = await ours.call('POST', all, { phone_number });
    expect(back.status, back.text).toBe(201);
    await release(back.body._id);
    const over = await startFacade({ database: facade.database, limits: { ...unlimited, numberReservationMs: 0 } });
    try {
      const third = await organization(facade);
      // A number that waited is no rival; age has whole seconds.
      await expect.poll(async () => (await over.call('POST', all, { body: { phone_number }, key: third.key })).status).toBe(201);
      expect((await numberClaims.get(phone_number, { reservedMs: 0 }))?.org).toBe(third.name);
    } finally {
      await over.close();
    }
  });

  it('that is assigned belongs to those organisations alone', async () => {
    const phone_number = number();
    const numberAssignments = new NumberAssignments([`${phone_number.slice(0, -2)}*=${ours.name}`]);
    const assigning = await startFacade({ database: facade.database, limits: { ...unlimited, numberAssignments } });
    try {
      const refused = await assigning.call('POST', all, { body: { phone_number }, key: theirs.key });
      expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('is assigned to other organisations')]);
      expect((await assigning.call('POST', all, { body: { phone_number }, key: ours.key })).status).toBe(201);
      expect((await assigning.call('POST', all, { body: { phone_number: number() }, key: theirs.key })).status).toBe(201);
    } finally {
      await assigning.close();
    }
  });

  it('goes to exactly one of many requests at once, on two replicas and in two organisations', async () => {
    const replica = await startFacade({ database: facade.database });
    try {
      for (let round = 0; round < 6; round += 1) {
        const body = { phone_number: number(), sip_trunk_password: 'p' };
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 ? facade : replica).call('POST', all, { body, key: (index % 4 < 2 ? ours : theirs).key }),
          ),
        );
        expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
        const { items } = await kubectlJson<{ items: PhoneNumber[] }>([
          'get',
          'phonenumbers',
          '-A',
          `--field-selector=spec.number=${body.phone_number}`,
        ]);
        expect(items.map(({ metadata }) => metadata.name)).toEqual([answers.find(({ status }) => status === 201)?.body._id]);
      }
    } finally {
      await replica.close();
    }
  });

  it('is not blocked by an object outside of all organisations', async () => {
    const outside = `outside-${randomInt(1e9)}`;
    const taken = number();
    await kubectl(['create', 'namespace', outside]);
    await kubectl(['create', '-f', '-'], aPhoneNumber('squatter', taken, outside));
    await expect.poll(async () => (await ours.call('POST', all, { phone_number: taken })).status).toBe(201);
  });
});

describe('a phone number', () => {
  it('is unknown to everybody else, like one that does not exist', async () => {
    const { body: foreign } = await theirs.call('POST', all, { phone_number: number() });
    for (const id of [foreign._id, 'pn-absent', 'NOT%20a%2Fname', '%00', 'x'.repeat(500)]) {
      for (const [method, body] of [['GET'], ['PATCH', { friendly_name: 'x' }], ['DELETE']] as const) {
        const answer = await ours.call(method, `${all}/${id}`, body);
        expect([answer.status, answer.text], `${method} ${id}`).toEqual([404, '{"error":"not_found","message":"Phone number not found"}']);
      }
    }
    expect((await theirs.call('GET', `${all}/${foreign._id}`)).body).toEqual(foreign);
  });

  it('that Git owns changes where Git has no say, and otherwise by force', async () => {
    await kubectl(
      ['apply', '--server-side', '--field-manager=gitops', '-f', '-'],
      aPhoneNumber('git-number', number(), ours.name, {
        type: 'SIP',
        sip: { username: 'git' },
        displayName: 'Git',
        deletionPolicy: 'Retain',
      }),
    );
    const path = `${all}/git-number`;
    const read = await ours.call('GET', path);
    expect(read.body).toMatchObject({ _id: 'git-number', provider: 'sip', sip_trunk_username: 'git', sip_infra_region: 'global' });
    const refused = await ours.call('PATCH', path, { sip_trunk_username: null, friendly_name: 'Mine' });
    expect([
      refused.status,
      refused.body.conflicts.toSorted((a: { field: string }, b: { field: string }) => (a.field < b.field ? -1 : 1)),
    ]).toEqual([
      409,
      [
        { field: 'friendly_name', manager: 'gitops' },
        { field: 'sip_trunk_username', manager: 'gitops' },
      ],
    ]);
    expect((await ours.call('PATCH', path, { sip_termination_uri: 'sip:x.example.com', sip_trunk_password: 'p' })).body).toMatchObject({
      sip_termination_uri: 'sip:x.example.com',
      sip_trunk_password: '********',
    });
    expect((await ours.call('PATCH', path, { sip_termination_uri: null, sip_trunk_password: null })).body).toEqual(read.body);
    const forced = await ours.call('PATCH', `${path}?force=true`, { sip_trunk_username: null, friendly_name: 'Mine' });
    expect(forced.body).toMatchObject({ sip_trunk_username: null, friendly_name: 'Mine', sip_infra_region: 'global' });
    expect((await stored('git-number')).spec.deletionPolicy).toBe('Retain');
  });

  it('answers If-Match, and changes nothing in a dry run', async () => {
    const sent = carrier();
    const dryRun = await ours.call('POST', `${all}?dry_run=true`, sent);
    expect(dryRun.body).toMatchObject(maskedBody(sent));
    expect([dryRun.body._id, dryRun.body.state.reason]).toEqual(['', 'DryRun']);
    const made = await ours.call('POST', all, sent);
    const path = `${all}/${made.body._id}`;
    const change = { friendly_name: 'x', carrier_auth_token: 'y' };
    expect((await ours.call('PATCH', `${path}?dry_run=true`, change)).body.friendly_name).toBe('x');
    expect((await ours.call('DELETE', `${path}?dry_run=true`)).status).toBe(200);
    expect([(await ours.call('GET', path)).body, await secretValues(made.body._id)]).toEqual([made.body, [sent.carrier_auth_token]]);
    const stale = { headers: { 'if-match': '"1"' } };
    for (const answer of [await ours.call('PATCH', path, change, stale), await ours.call('DELETE', path, undefined, stale)])
      expect([answer.status, answer.headers.get('etag')]).toEqual([412, made.headers.get('etag')]);
    expect((await ours.call('PATCH', path, change, { headers: { 'if-match': made.headers.get('etag') ?? '' } })).status).toBe(200);
  });

  it('is listed in pages, of its own organisation alone', async () => {
    const org = await organization(facade);
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push((await org.call('POST', all, { phone_number: number() })).body._id as string);
    const seen: string[] = [];
    let token: string | null = null;
    for (let round = 0; round === 0 || token !== null; round += 1) {
      const page: RestAnswer = await org.call('GET', `${all}/?page_size=2${token === null ? '' : `&page_token=${token}`}`);
      seen.push(...page.body.data.map((each: { _id: string }) => each._id));
      token = page.body.next_page_token as string | null;
    }
    expect(seen.toSorted()).toEqual(made.toSorted());
    const { body } = await org.call('GET', `${all}?page_size=1`);
    expect(brief(await ours.call('GET', `${all}?page_token=${body.next_page_token}`))).toEqual(['query.page_token value_error']);
    expect(brief(await ours.call('GET', `${all}?page_size=0`))).toEqual(['query.page_size greater_than_equal']);
    const writer = { key: await org.keyWith('phone_numbers:write') };
    expect((await org.call('GET', all, undefined, writer)).status).toBe(200);
    const reader = { key: await org.keyWith('phone_numbers:read') };
    expect((await org.call('POST', all, { phone_number: number() }, reader)).status).toBe(403);
  });
});
