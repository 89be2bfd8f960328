/** REST makes tools of MCP servers as the API server stores them. */
import { beforeEach, describe, expect, it } from 'vitest';

import type { Tool } from '../../../crds/index.ts';
import { anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, kubectl, kubectlJson, notLookedAt, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
const org = suiteFixture(() => organization(facade));
let all: string;

beforeEach(async () => {
  const { body } = await org.call('POST', '/v2/ai-agents', anAgentRequest('A'));
  all = `/v2/ai-agents/${body.ai_agent_id}/mcp-tools`;
});

const digest = (of: string): string => `sha256:${of.repeat(64)}`;
const brief = ({ status, body }: RestAnswer) => [
  status,
  body.detail?.map(({ type, loc }: { type: string; loc: unknown[] }) => `${loc.join('.')} ${type}`),
];
const stored = (id: string): Promise<Tool> => kubectlJson<Tool>(['get', 'tool', id, '-n', org.name]);

/** Sets every field. */
const whole = {
  tool_description: 'What the shop knows',
  server_url: 'https://mcp.example.com/mcp',
  headers: { 'X-Shop-Key': 'hunter2' },
  oauth: { token_url: 'https://login.example.com/token', client_id: 'parley', client_secret: 'hunter3', scope: 'orders' },
  include: ['look_up_order', 'list_offers'],
  exclude: ['delete_order'],
  prefix: 'shop_',
  timeout_ms: 10_000,
  update_policy: 'pinned',
  digest: digest('1'),
  tool_messages: {
    look_up_order: {
      tool_start_message: 'I look.',
      tool_delayed_message: 'Still.',
      tool_complete_message: 'Done.',
      tool_failed_message: 'No.',
    },
  },
  tool_start_message: 's',
  tool_delayed_message: 'd',
  tool_complete_message: 'c',
  tool_failed_message: 'f',
};
const masked = { ...whole, headers: { 'X-Shop-Key': '********' }, oauth: { ...whole.oauth, client_secret: '********' } };

const create = async (body: object = whole): Promise<{ readonly id: string; readonly path: string; readonly answer: RestAnswer }> => {
  const answer = await org.call('POST', all, body);
  expect(answer.status, answer.text).toBe(201);
  return { id: answer.body.tool_id, path: `${all}/${answer.body.tool_id}`, answer };
};

describe('tools of MCP servers', () => {
  it('come back as they were sent, in a list too, and are gone once they are deleted', async () => {
    const { path, answer, id } = await create();
    const expected = { tool_id: expect.stringMatching(/^mcp-example-com-[a-z2-7]{8}$/), ...masked };
    expect(answer.body).toMatchObject(expected);
    expect(answer.body.state).toEqual(notLookedAt);
    expect(answer.text).not.toContain('hunter');
    const read = await org.call('GET', path);
    expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, answer.body, answer.headers.get('etag')]);
    expect((await org.call('GET', all)).body).toEqual({ data: [answer.body], next_page_token: null });
    // Other kinds of tools are other routes.
    expect((await org.call('GET', path.replace('mcp-tools', 'custom-tools'))).status).toBe(404);
    expect(JSON.stringify(await stored(id))).not.toContain('hunter');

    expect((await org.call('PUT', path, answer.body)).headers.get('etag')).toBe(answer.headers.get('etag'));
    expect((await org.call('DELETE', path)).status).toBe(200);
    expect((await org.call('GET', path)).status).toBe(404);
    expect((await org.call('PUT', path, {})).status).toBe(404);
  });

  it('have defaults', async () => {
    const { answer } = await create({ server_url: 'https://mcp.example.com/mcp' });
    const { tool_id: _id, created_at: _created, updated_at: _updated, state: _state, ...rest } = answer.body;
    expect(rest).toEqual({ server_url: 'https://mcp.example.com/mcp', headers: {}, timeout_ms: 20_000, update_policy: 'pinned' });
  });

  it('change in what a PUT names, at every level, and null brings back the default', async () => {
    const { path, id } = await create();
    const changed = await org.call('PUT', path, {
      timeout_ms: null,
      include: null,
      oauth: { scope: null },
      digest: null,
      update_policy: 'follow',
      tool_messages: { list_offers: { tool_start_message: 'One moment.' } },
      tool_failed_message: null,
    });
    expect(changed.status, changed.text).toBe(200);
    const { include: _include, digest: _digest, tool_failed_message: _failed, ...kept } = masked;
    const { scope: _scope, ...oauth } = kept.oauth;
    const { tool_id: _id, created_at: _created, updated_at: _updated, state: _state, ...rest } = changed.body;
    expect(rest).toEqual({
      ...kept,
      oauth,
      timeout_ms: 20_000,
      update_policy: 'follow',
      tool_messages: { list_offers: { tool_start_message: 'One moment.' } },
    });
    const { spec } = await stored(id);
    expect(spec.mcp?.tools).toEqual([{ name: 'list_offers', messages: { start: 'One moment.' } }]);
    expect((await org.call('PUT', path, { oauth: null })).body.oauth).toBeUndefined();
  });

  it.each<[string, object, readonly string[]]>([
    ['no address', {}, ['body.server_url missing']],
    ['another address', { server_url: 'ftp://mcp.example.com' }, ['body.server_url string_pattern_mismatch']],
    ['a digest that is none', { ...whole, digest: 'sha256:12' }, ['body.digest string_pattern_mismatch']],
    ['a timeout of nothing', { ...whole, timeout_ms: 10 }, ['body.timeout_ms greater_than_equal']],
    ['a prefix with blanks', { ...whole, prefix: 'my shop' }, ['body.prefix string_pattern_mismatch']],
    ['another policy', { ...whole, update_policy: 'sometimes' }, ['body.update_policy literal_error']],
    ['a header that oauth sends', { ...whole, headers: { Authorization: 'Bearer x' } }, ['body.headers.0 value_error']],
    [
      'half of a client',
      { ...whole, oauth: { client_id: 'parley' } },
      ['body.oauth.token_url missing', 'body.oauth.client_secret missing'],
    ],
  ])('are refused with %s, and nothing is stored', async (_what, body, problems) => {
    const answer = await org.call('POST', all, body);
    expect(brief(answer), answer.text).toEqual([422, problems]);
    expect((await org.call('GET', all)).body.data).toEqual([]);
  });

  it('show a changed list, and accept it by its digest, which a list that is followed has not', async () => {
    const { path, id } = await create({ server_url: 'https://mcp.example.com/mcp' });
    const status = { mcp: { digest: digest('1'), latestDigest: digest('2'), functions: ['look_up_order'] } };
    await kubectl(['patch', 'tool', id, '-n', org.name, '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]);
    const shown = await eventually(async () => {
      const { body } = await org.call('GET', path);
      expect(body).toMatchObject({ used_digest: digest('1'), latest_digest: digest('2'), functions: ['look_up_order'] });
      return body;
    });
    expect(shown.digest).toBeUndefined();
    const dry = await org.call('PUT', `${path}?dry_run=true`, { digest: shown.latest_digest });
    expect([dry.status, dry.body.digest]).toEqual([200, digest('2')]);
    expect((await stored(id)).spec.mcp?.digest).toBeUndefined();
    expect((await org.call('PUT', path, { digest: shown.latest_digest })).body.digest).toBe(digest('2'));
    expect((await stored(id)).spec.mcp).toMatchObject({ digest: digest('2'), updatePolicy: 'Pinned' });

    const both = await org.call('PUT', path, { update_policy: 'follow' });
    expect(both.status).toBe(422);
    expect(both.text).toContain('digest pins the list of tools');
    const twice = await org.call('PUT', path, { include: ['look_up', 'look_up'] });
    expect([twice.status, twice.text]).toEqual([422, expect.stringContaining('items must differ, and \\"look_up\\" is there twice')]);
    // Nobody may write the fields that the server reports.
    expect((await org.call('PUT', path, { used_digest: digest('3') })).body.used_digest).toBe(digest('1'));
  });
});
