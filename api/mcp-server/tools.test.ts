import { Ajv2020 } from 'ajv/dist/2020.js';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { routesOf } from '../http/route.ts';
import { describedRoutes } from '../openapi/described-routes.ts';
import { buildToolRequest, toolNameOf, routeTools, wrongIds, type RouteTool } from './tools.ts';

const tools = routeTools(describedRoutes());
const byName = (name: string): RouteTool => {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return tool;
};
const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true, email: true } });

describe('the tools', () => {
  it('have names of their own that begin with what they do, and belong to routes with an object for an answer', () => {
    const names = tools.map(({ definition }) => definition.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^(list|get|create|update|delete|search|explain)_[a-z_]+$/);
    for (const { definition } of tools)
      expect([definition.inputSchema.type, definition.outputSchema?.['type']]).toEqual(['object', 'object']);
  });

  it('take the examples of their routes, and answer as these do', () => {
    let compared = 0;
    for (const { definition, route } of tools) {
      const takes = ajv.compile(definition.inputSchema as object);
      const answers = ajv.compile(definition.outputSchema as object);
      const ids = Object.fromEntries(Object.keys(route.params ?? {}).map((name) => [name, 'x']));
      for (const example of Object.values(route.bodyExamples ?? {})) {
        const nested = 'body' in (definition.inputSchema.properties ?? {});
        compared += takes({ ...ids, ...(nested ? { body: example } : (example as object)) }) ? 1 : 0;
        expect(takes.errors, definition.name).toBeNull();
      }
      for (const { example } of Object.values(route.answers)) {
        if (example === undefined) continue;
        compared += answers(example) ? 1 : 0;
        expect(answers.errors, definition.name).toBeNull();
      }
    }
    expect(compared).toBeGreaterThan(40);
  });

  it('are few and short enough for the context of a model', () => {
    const tokens = (some: readonly RouteTool[]): number => encode(JSON.stringify(some.map(({ definition }) => definition))).length;
    expect(tools.length).toBeLessThanOrEqual(30);
    expect(tokens(tools)).toBeLessThan(26_000);
    expect(tokens(tools.filter(({ definition }) => definition.annotations?.readOnlyHint))).toBeLessThan(6_000);
    // Each schema has one type: some providers of models know no others.
    expect(JSON.stringify(tools)).not.toMatch(/"type":\[/);
  });

  it('offer a dry run of every write of configuration', () => {
    const writes = tools.filter(({ definition }) => !definition.annotations?.readOnlyHint).map(({ definition }) => definition);
    const withoutDryRun = writes.filter(({ inputSchema }) => !('dry_run' in (inputSchema.properties ?? {})));
    expect(withoutDryRun.map(({ name }) => name)).toEqual(['create_test_run']);
  });

  it('have no access to keys, secrets of webhooks and recordings', () => {
    for (const { route } of tools) expect(route.path).not.toMatch(/api-keys|secret|recording/);
  });
});

describe('the request of a call', () => {
  it('has ids in the path, what the query names in the query, and the rest in the body', () => {
    const given = { ai_agent_id: 'a b/c', dry_run: false, force: true, agent_name: 'X', unheard_of: 1 };
    expect(buildToolRequest(byName('update_agent'), given)).toEqual({
      method: 'PUT',
      url: '/v2/ai-agents/a%20b%2Fc?dry_run=false&force=true',
      body: { agent_name: 'X', unheard_of: 1 },
    });
    expect(buildToolRequest(byName('list_calls'), { ai_agent_ids: ['a', 'b'], page_size: 5, call_status: null, x: 'y' }).url).toBe(
      '/v1/calls?ai_agent_ids=a&ai_agent_ids=b&page_size=5&x=y',
    );
    expect(buildToolRequest(byName('update_phone_number'), { phone_number_id: 'n', body: { friendly_name: 'N' } })).toMatchObject({
      url: '/v1/phone-numbers/n?dry_run=true',
      body: { friendly_name: 'N' },
    });
    expect(buildToolRequest(byName('get_call'), { call_id: 'c', offset: 5 }).url).toBe('/v1/calls/c');
  });

  it.each([undefined, null, true, 'false', 0, {}])('is a dry run with dry_run: %j', (dry) => {
    expect(buildToolRequest(byName('delete_agent'), { ai_agent_id: 'a', dry_run: dry }).url).toBe('/v2/ai-agents/a?dry_run=true');
  });

  it.each([undefined, null, 5, '', '.', '..', '\ud800'])('has no id that is %j', (id) => {
    expect(wrongIds(byName('delete_custom_tool').route, { ai_agent_id: 'a', tool_id: id })).toEqual(['tool_id']);
  });

  it('has one place for each name', () => {
    const route = routesOf('Things')({
      method: 'POST',
      path: '/things',
      operationId: 'createThing',
      summary: 'Make a thing',
      permission: 'agents:write',
      query: z.object({ name: z.string() }),
      body: z.object({ name: z.string() }),
      mcp: {},
      answers: {},
    });
    expect(() => routeTools([route])).toThrow('createThing has name in two parts of its request');
    expect(toolNameOf('createThing')).toBe('create_thing');
  });
});
