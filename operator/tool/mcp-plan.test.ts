import { describe, expect, it } from 'vitest';

import { selectTools, type McpSpec, type ServerTool } from '../../crds/mcp-tools.ts';
import type { Tool } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot } from '../references/memory-snapshot.ts';
import { chooseTools, NO_TOOL_LIST, type ToolListView } from '../references/tool-list-view.ts';
import { planMcp } from './mcp-plan.ts';

const list = (description: string): readonly ServerTool[] => [
  { name: 'echo', description, parameters: { type: 'object' }, readOnly: false },
];
const former = list('Says the same.');
const newer = list('Says something else.');
const digestOf = (of: readonly ServerTool[]): string => selectTools({}, of).digest;
const at = new Date('2026-01-01T00:00:00Z');

const spec = (more: Partial<McpSpec> = {}): McpSpec => ({
  url: 'https://shop.example/mcp',
  timeout: '10s',
  updatePolicy: 'Pinned',
  ...more,
});
const known = (more: Partial<Extract<ToolListView, { state: 'known' }>> = {}): ToolListView => ({
  state: 'known',
  latest: { tools: newer, at },
  accepted: former,
  ...more,
});

describe('agents use', () => {
  it.each([
    ['what was accepted, where the server has changed its list', spec(), former, undefined],
    ['the newest, where the owner follows it', spec({ updatePolicy: 'Follow' }), newer, newer],
    ['the list of the digest', spec({ digest: digestOf(newer) }), newer, newer],
    ['what was accepted, where that is the list of the digest', spec({ digest: digestOf(former) }), former, undefined],
  ])('%s', (_, mcp, used, accept) => {
    const chosen = chooseTools(mcp, known());
    expect(chosen.used?.digest).toBe(digestOf(used));
    expect(chosen.accept).toBe(accept);
    expect(chosen.unknownDigest).toBe(false);
    expect(chosen.changes).toHaveLength(used === newer ? 0 : 1);
  });

  it('the first list that there is, and none before', () => {
    expect(chooseTools(spec(), { state: 'known', latest: { tools: newer, at } })).toMatchObject({ accept: newer, changes: [] });
    expect(chooseTools(spec(), NO_TOOL_LIST).used).toBeUndefined();
    expect(chooseTools(spec(), { state: 'unavailable', why: 'away' }).used).toBeUndefined();
  });

  it('what they have where the digest is unknown', () => {
    const chosen = chooseTools(spec({ digest: `sha256:${'0'.repeat(64)}` }), known());
    expect(chosen).toMatchObject({ unknownDigest: true, used: { digest: digestOf(former) } });
  });
});

describe('the plan', () => {
  const plan = (mcp: McpSpec, view: ToolListView, { sound = true, asked = '' } = {}) => {
    const tool = storedObject(
      'Tool',
      'shop',
      { type: 'MCP', mcp },
      { metadata: { annotations: { 'parley.dev/reconcile-requested-at': asked } } },
    ) as Tool;
    return planMcp(tool, mcp, { snapshot: memorySnapshot({ organizations: ['acme'], toolList: () => view }), sound });
  };
  const requestOf = (...args: Parameters<typeof plan>) => plan(...args).actions.find(({ type }) => type === 'requestList');
  const digestAsked = (mcp: McpSpec): string => {
    const action = requestOf(mcp, NO_TOOL_LIST);
    return action?.type === 'requestList' ? action.digest : '';
  };
  const reasonsOf = ({ stages }: ReturnType<typeof plan>) =>
    stages.map(({ type, good, problems }) => [type, ...(problems.length === 0 ? [good] : problems).map(({ reason }) => reason)]);

  it('asks once, and again for another server, whose list is accepted, and for a requested reconcile', () => {
    const request = { url: spec().url, digest: digestAsked(spec()) };
    expect(requestOf(spec(), NO_TOOL_LIST)).toMatchObject({ request: { url: spec().url, timeout: '10s' }, acceptNext: false });
    expect(requestOf(spec(), known({ request }))).toBeUndefined();
    expect(requestOf(spec({ include: ['echo'], updatePolicy: 'Follow' }), known({ request }))).toBeUndefined();
    expect(requestOf(spec({ url: 'https://other.example/mcp' }), known({ request }))).toMatchObject({ acceptNext: true });
    expect(requestOf(spec({ timeout: '20s' }), known({ request }))).toMatchObject({ acceptNext: false });
    expect(requestOf(spec(), known({ request }), { asked: 'now' })).toMatchObject({ acceptNext: false });
  });

  it('asks nothing while the spec is not sound or Postgres is away, and accepts no list for an unknown digest', () => {
    expect(requestOf(spec(), NO_TOOL_LIST, { sound: false })).toBeUndefined();
    expect(plan(spec(), { state: 'unavailable', why: 'Postgres does not answer' })).toMatchObject({ actions: [], status: {} });
    const mcp = spec({ digest: `sha256:${'0'.repeat(64)}` });
    const view: ToolListView = { state: 'known', latest: { tools: newer, at }, request: { url: mcp.url, digest: digestAsked(mcp) } };
    expect(plan(mcp, view).actions).toEqual([]);
    expect(plan(spec(), view).actions).toEqual([{ type: 'acceptList', tools: newer }]);
  });

  it('says in conditions and status what there is', () => {
    expect(reasonsOf(plan(spec(), NO_TOOL_LIST))).toEqual([['Synced', 'ToolsPending']]);
    expect(reasonsOf(plan(spec(), { state: 'known', failure: 'it is away' }))).toEqual([['Synced', 'ToolsNotListed']]);
    expect(reasonsOf(plan(spec({ include: ['other'] }), known()))).toEqual([
      ['Synced', 'NoTools'],
      ['UpToDate', 'ToolsMissing'],
    ]);
    const changed = plan(spec(), known({ failure: 'it is away' }));
    expect(reasonsOf(changed)).toEqual([
      ['Synced', 'ToolsListed'],
      ['UpToDate', 'ToolsChanged', 'ToolsNotChecked'],
    ]);
    expect(changed.stages[1]?.problems[0]?.message).toContain(`{"spec":{"mcp":{"digest":"${digestOf(newer)}"}}}`);
    expect(changed.status).toMatchObject({ digest: digestOf(former), latestDigest: digestOf(newer), functions: ['echo'] });
  });

  it('says which tools have another name, because theirs is that of a built-in', () => {
    const tools: readonly ServerTool[] = ['end_call', 'echo'].map((name) => ({ name, description: '', parameters: {}, readOnly: false }));
    const { stages, status } = plan(spec(), known({ latest: { tools, at }, accepted: tools }));
    expect(status.functions).toEqual(['echo', 'end_call_2']);
    expect(stages.find(({ type }) => type === 'UpToDate')?.problems).toEqual([
      { reason: 'FunctionNamesReserved', message: expect.stringContaining('end_call_2; set spec.mcp.prefix') },
    ]);
    expect(reasonsOf(plan(spec({ prefix: 'shop_' }), known({ latest: { tools, at }, accepted: tools })))).toContainEqual([
      'UpToDate',
      'ToolsUpToDate',
    ]);
  });

  describe('what agents do not get', () => {
    const tool = (name: string, more: Partial<ServerTool> = {}): ServerTool => ({
      name,
      description: '',
      parameters: {},
      readOnly: false,
      ...more,
    });
    const messagesOf = (mcp: McpSpec, tools: readonly ServerTool[]): readonly string[] =>
      plan(mcp, known({ latest: { tools, at }, accepted: tools })).stages.flatMap(({ good, problems }) =>
        (problems.length === 0 ? [good] : problems).map(({ reason, message }) => `${reason}: ${message}`),
      );
    const broken = tool('bad', { unusable: 'inputSchema is not a valid JSON Schema: x' });

    it('is named with its cause, and the others are used', () => {
      expect(messagesOf(spec(), [tool('a'), broken, tool('', { unusable: 'it has no name' })])).toEqual([
        "ToolsListed: agents get 1 of the server's 3 tools",
        'ToolsUnusable: no model can be given "": it has no name; "bad": inputSchema is not a valid JSON Schema: x. Agents get the others; correct the server, or name the tools in spec.mcp.exclude',
      ]);
      expect(messagesOf(spec({ exclude: ['bad'] }), [tool('a'), broken])[1]).toMatch(/^ToolsUpToDate/);
    });

    it('is what stands behind the limit', () => {
      const many = Array.from({ length: 1_000 }, (_, n) => tool(`t${String(n).padStart(3, '0')}`));
      expect(messagesOf(spec(), many)).toEqual([
        "ToolsListed: agents get 128 of the server's 1000 tools",
        'ToolsTooMany: agents get the first 128 tools by name, and not t128, t129, t130, t131, t132 and 867 more: name those that are wanted in spec.mcp.include',
      ]);
      expect(messagesOf(spec({ include: ['t999', 't001'] }), many)).toEqual([
        "ToolsListed: agents get 2 of the server's 1000 tools",
        'ToolsUpToDate: agents use the tools that the server has',
      ]);
    });

    it('is shown where include chooses nothing', () => {
      expect(messagesOf(spec({ include: ['other'] }), [tool('a'), tool('b')])).toEqual([
        'NoTools: https://shop.example/mcp offers no tool that spec.mcp.include and spec.mcp.exclude leave and a model can be given: it has a, b. Correct them, or the server',
        'ToolsMissing: the server has no tool "other": correct spec.mcp.include; it has a, b',
      ]);
      expect(messagesOf(spec(), [broken])[0]).toContain('it has bad; no model can be given "bad": inputSchema');
    });
  });
});
