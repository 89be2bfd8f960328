import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';

import { toolKind, type ToolSpec } from '../../crds/index.ts';
import type { Encoding } from '../codec/fields.ts';
import { fieldsWithoutCase } from '../../test/support/field-cases.ts';
import { masked, refId, unmaskedReader } from '../codec/secrets.ts';
import { restName } from '../partial/field-names.ts';
import { shapeOf, type Shape } from '../partial/shape.ts';
import {
  builtinTool,
  builtinToolUpdates,
  builtinTypeOf,
  customTool,
  customToolUpdate,
  mcpTool,
  toolFieldNames,
  toolFromRest,
  toolToRest,
  type BuiltinToolUpdate,
  type CustomToolUpdate,
} from './fields.ts';
import { encoding as encodingFor, parsed } from '../../test/support/rest-fields.ts';

const text = fc.oneof(fc.constant(''), fc.string({ maxLength: 12, unit: 'grapheme' }));
const named = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' });
const keyRef = fc.record({ name: fc.constantFrom('mine', 'tool-t'), key: fc.constantFrom('k', 'api-key') });
const optional = <T extends Record<string, fc.Arbitrary<unknown>>, R extends keyof T & string>(model: T, requiredKeys: R[]) =>
  fc.record(model, { requiredKeys });
const headerName = fc.constantFrom('X-Tenant', 'Authorization', 'X-Api-Key', 'Accept');
// JSON turns -0 into 0.
const json = fc.jsonValue({ maxDepth: 2, noUnicodeString: false }).map((value): typeof value => JSON.parse(JSON.stringify(value)));
/** A value that counts as sent: null doesn't. */
const sentValue = json.filter((value) => value !== null);
const params = fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), optional({ description: text, value: json }, []));
const functionName = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);

const calendar = optional(
  {
    eventTypeID: fc.oneof(fc.integer({ min: 0, max: 2_147_483_648 }).map(String), fc.constant('007'), named),
    apiKeySecretRef: keyRef,
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
  },
  ['eventTypeID', 'apiKeySecretRef'],
);
const members = {
  custom: optional(
    {
      function: optional({ name: functionName, description: text, parameters: fc.constantFrom({}, { type: 'object', properties: {} }) }, [
        'name',
      ]),
      http: optional(
        {
          url: fc.webUrl(),
          method: fc.constantFrom('GET', 'PATCH'),
          timeout: fc.constantFrom('20s', '1m', '1500ms'),
          headers: fc.uniqueArray(
            fc.oneof(
              fc.record({ name: headerName, value: named }),
              fc.record({ name: headerName, valueFrom: keyRef.map((secretKeyRef) => ({ secretKeyRef })) }),
            ),
            { selector: ({ name }) => name },
          ),
          fixedParams: params,
          runtimeParams: params,
        },
        ['url'],
      ),
    },
    ['function', 'http'],
  ),
  sendEmail: fc.record({ from: fc.constantFrom('a@b', 'desk@example.com'), passwordSecretRef: keyRef }),
  transferCall: optional(
    { to: fc.constantFrom('+15550100', 'sip:x@y'), mode: fc.constantFrom('Cold', 'Warm'), callerID: fc.constantFrom('Agent', 'Caller') },
    ['to'],
  ),
  bookCalendar: calendar,
  checkCalendarAvailability: calendar,
} as const;

/** Any spec that `kubectl apply` may have stored. */
const spec = fc
  .record({
    common: optional(
      {
        suspend: fc.boolean(),
        agentRefs: fc.subarray([{ name: 'night' }, { name: 'front-desk' }, { name: 'a.b' }]),
        description: text,
        messages: optional({ start: text, delayed: text, complete: text, failed: text }, []),
        sensitive: fc.boolean(),
      },
      [],
    ),
    own: fc.oneof(
      ...Object.entries(members).map(([name, body]) =>
        (body as fc.Arbitrary<object>).map((value) => ({ type: name.charAt(0).toUpperCase() + name.slice(1), [name]: value })),
      ),
    ),
  })
  .map(({ common, own }) => toolKind.spec.parse({ ...common, ...own }));

const everySecret = new Map(
  ['mine', 'tool-t'].flatMap((name) => ['k', 'api-key'].map((key) => [refId({ name, key }), `${name}+${key}`] as const)),
);

const encoding = (stored?: ReadonlyMap<string, string>): Encoding => encodingFor('tool-t', stored);

const metadata = { name: 't', namespace: 'org', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-21T09:00:00Z' };
const state = { ready: true, reason: 'Available', message: '' };

function toRest(stored: ToolSpec, secrets = masked): Readonly<Record<string, unknown>> {
  return toolToRest({ apiVersion: 'parley.dev/v1beta1', kind: 'Tool', metadata, spec: stored }, { secrets, state });
}

function updated(body: unknown, stored: ToolSpec, context: Encoding): unknown {
  const type = builtinTypeOf(stored);
  const schema: z.ZodType<CustomToolUpdate | BuiltinToolUpdate> = type === undefined ? customToolUpdate : builtinToolUpdates[type];
  return toolFromRest(parsed(schema, body), stored, context);
}

describe('a tool: resource → REST → resource', () => {
  it('changes nothing, whatever is stored', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const context = encoding();
        expect(updated(toRest(stored), stored, context)).toEqual(stored);
        expect([context.found, [...context.secrets.pending]]).toEqual([[], []]);
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing for who may see secrets either, and nothing where nothing is named', () => {
    fc.assert(
      fc.property(spec, (stored) => {
        const context = encoding(everySecret);
        expect(updated(toRest(stored, unmaskedReader(everySecret)), stored, context)).toEqual(stored);
        expect([...context.secrets.pending]).toEqual([]);
        const { tool_name: name } = toRest(stored);
        expect(updated(name === undefined ? {} : { tool_name: name }, stored, encoding())).toEqual(stored);
      }),
      { numRuns: 300 },
    );
  });
});

const messages = {
  tool_start_message: text,
  tool_delayed_message: text,
  tool_complete_message: text,
  tool_failed_message: text,
  sensitive: fc.boolean(),
};
// The number of an event type is answered as a number, however it was sent.
const sentCalendar = {
  event_type_id: fc.oneof(
    fc.integer({ min: 1, max: 2_147_483_647 }),
    named.filter((name) => !/^[1-9][0-9]*$/.test(name)),
  ),
  cal_api_key: named,
};
const builtinBody = fc.oneof(
  optional(
    { tool_name: fc.constant('send_email'), from_email: fc.constant('a@b'), app_password: named, tool_description: text, ...messages },
    ['tool_name', 'from_email', 'app_password'],
  ),
  optional(
    {
      tool_name: fc.constant('transfer_call'),
      transfer_to: fc.constant('+1555'),
      transfer_type: fc.constantFrom('cold_transfer', 'warm_transfer'),
      display_phone_number: fc.boolean(),
      tool_description: text,
      ...messages,
    },
    ['tool_name', 'transfer_to'],
  ),
  ...['book_calendar', 'check_calendar_availability'].map((name) =>
    optional({ tool_name: fc.constant(name), ...sentCalendar, timezone: fc.constant('Asia/Dhaka'), tool_description: text, ...messages }, [
      'tool_name',
      'event_type_id',
      'cal_api_key',
    ]),
  ),
);
const customBody = optional(
  {
    function_tool: optional({ name: functionName, description: text, parameters: fc.constant({ type: 'object' }) }, ['name']),
    additional_tool_info: fc.record({
      api: optional(
        {
          endpoint: fc.webUrl(),
          method: fc.constantFrom('GET', 'DELETE'),
          headers: fc.dictionary(headerName, named),
          parameters: fc.record({
            fixed_params: fc.dictionary(named, fc.record({ description: text, value: sentValue })),
            runtime_params: fc.dictionary(named, fc.record({ description: text, value: sentValue }), { maxKeys: 2 }),
          }),
        },
        ['endpoint'],
      ),
    }),
    ...messages,
  },
  ['function_tool', 'additional_tool_info'],
);
/** A body with every field. */
const mcpBody = {
  server_url: 'https://mcp.example/x',
  headers: { 'X-Key': 'value' },
  oauth: { token_url: 'https://auth.example', client_id: 'c', client_secret: 's', scope: 'read' },
  include: ['a', 'b'],
  exclude: ['c'],
  prefix: 'crm_',
  timeout_ms: 2500,
  update_policy: 'pinned',
  digest: `sha256:${'0'.repeat(64)}`,
  tool_messages: { a: { tool_start_message: 'One moment' } },
};
/** Replaces null by undefined: the field is absent afterwards. */
const unset = (sent: object): object => Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, value ?? undefined]));
const plain = (value: unknown): object => JSON.parse(JSON.stringify(value)) as object;

describe('a tool: REST → resource → REST', () => {
  it('returns what was sent', () => {
    const back = (draft: unknown, context: Encoding): object => {
      const values = new Map([...context.secrets.pending].map(([key, value]) => [refId({ name: 'tool-t', key }), value]));
      return toRest(toolKind.spec.parse(draft), unmaskedReader(values));
    };
    fc.assert(
      fc.property(builtinBody, customBody, (builtin, custom) => {
        const [one, two] = [encoding(), encoding()];
        expect(back(toolFromRest(parsed(builtinTool, builtin), undefined, one), one)).toMatchObject(plain(builtin));
        expect(back(toolFromRest(parsed(customTool, custom), undefined, two), two)).toMatchObject(plain(custom));
      }),
      { numRuns: 300 },
    );
  });

  it('returns every field of an MCP server', () => {
    const context = encoding();
    const draft = toolFromRest(parsed(mcpTool, mcpBody), undefined, context);
    const values = new Map([...context.secrets.pending].map(([key, value]) => [refId({ name: 'tool-t', key }), value]));
    expect(toRest(toolKind.spec.parse(draft), unmaskedReader(values))).toMatchObject(mcpBody);
  });

  it.each([
    [42, '42', 42],
    ['42', '42', 42],
    [2_147_483_647, '2147483647', 2_147_483_647],
    ['2147483648', '2147483648', '2147483648'],
    ['007', '007', '007'],
    ['0', '0', '0'],
    ['ada/meeting', 'ada/meeting', 'ada/meeting'],
  ])('stores the event type %j as %j, and answers %j', (sent, stored, shown) => {
    const body = { tool_name: 'book_calendar', event_type_id: sent, cal_api_key: 'k' };
    const draft = toolFromRest(parsed(builtinTool, body), undefined, encoding());
    expect(draft).toMatchObject({ type: 'BookCalendar', bookCalendar: { eventTypeID: stored } });
    expect(toRest(toolKind.spec.parse(draft))).toMatchObject({ event_type_id: shown });
  });

  it('changes what is named and nothing else, whatever is stored', () => {
    const partly = (fields: Record<string, fc.Arbitrary<unknown>>) => fc.record(fields, { requiredKeys: [] });
    const nullable = (value: fc.Arbitrary<unknown>) => fc.option(value, { nil: null });
    const texts = partly(Object.fromEntries(Object.entries(messages).map(([name, value]) => [name, nullable(value)])));
    const own: Record<string, fc.Arbitrary<object>> = {
      send_email: partly({ from_email: fc.constant('new@example.com'), app_password: named }),
      transfer_call: partly({
        transfer_to: fc.constant('sip:new'),
        transfer_type: nullable(fc.constant('warm_transfer')),
        display_phone_number: nullable(fc.boolean()),
      }),
      book_calendar: partly({ ...sentCalendar, timezone: nullable(fc.constant('Asia/Dhaka')) }),
      check_calendar_availability: partly({ ...sentCalendar, timezone: nullable(fc.constant('Asia/Dhaka')) }),
    };
    const defaults: Readonly<Record<string, unknown>> = { transfer_type: 'cold_transfer', display_phone_number: false, timezone: 'UTC' };
    const builtinChange = spec
      .filter((stored) => builtinTypeOf(stored) !== undefined)
      .chain((stored) => {
        const { tool_name: name } = toRest(stored);
        return fc.tuple(
          fc.constant(stored),
          fc.constant(name),
          own[String(name)] ?? fc.constant({}),
          texts,
          partly({ tool_description: nullable(text) }),
        );
      });
    const reader = (context: Encoding) =>
      unmaskedReader(
        new Map([...everySecret, ...[...context.secrets.pending].map(([key, value]) => [refId({ name: 'tool-t', key }), value] as const)]),
      );
    fc.assert(
      fc.property(builtinChange, ([stored, name, fields, said, described]) => {
        const context = encoding(everySecret);
        const sent = { tool_name: name, ...fields, ...said, ...described };
        const after = toolKind.spec.parse(updated(sent, stored, context));
        const cleared = Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, value ?? defaults[key]]));
        expect(toRest(after, reader(context))).toEqual({ ...toRest(stored, unmaskedReader(everySecret)), ...cleared });
        expect([after.agentRefs, after.suspend]).toEqual([stored.agentRefs, stored.suspend]);
      }),
      { numRuns: 300 },
    );
    const api = partly({ endpoint: fc.constant('https://new'), method: fc.constant('DELETE'), headers: fc.dictionary(headerName, named) });
    const customChange = fc.tuple(
      spec.filter(({ type }) => type === 'Custom'),
      texts,
      partly({ name: functionName, description: nullable(text) }),
      api,
    );
    fc.assert(
      fc.property(customChange, ([stored, said, fn, request]) => {
        const context = encoding(everySecret);
        const after = toolKind.spec.parse(updated({ ...said, function_tool: fn, additional_tool_info: { api: request } }, stored, context));
        const before = toRest(stored, unmaskedReader(everySecret)) as { function_tool: object; additional_tool_info: { api: object } };
        expect(toRest(after, reader(context))).toEqual({
          ...before,
          ...unset(said),
          function_tool: { ...before.function_tool, ...unset(fn) },
          additional_tool_info: { ...before.additional_tool_info, api: { ...before.additional_tool_info.api, ...request } },
        });
        expect(after.custom?.http.timeout).toBe(stored.custom?.http.timeout);
      }),
      { numRuns: 300 },
    );
  });

  it('has a name for every field but those that only resources have', () => {
    const leaves = (shape: Shape, path: string): readonly string[] =>
      shape.type === 'object'
        ? Object.entries(shape.fields).flatMap(([name, field]) => leaves(field, path === '' ? name : `${path}.${name}`))
        : [path];
    const missing = leaves(shapeOf(toolKind.spec), '').filter((path) => {
      const name = restName(toolFieldNames, `.spec.${path}`);
      return name === `.spec.${path}` || name === 'additional_tool_info.api';
    });
    expect(missing).toEqual(['suspend', 'type', 'agentRefs', 'custom.http.timeout']);
  });
});

it('has a case for each field of the table: add what is named here to the bodies above', () => {
  expect(
    fieldsWithoutCase(toolFieldNames, [
      ...fc.sample(builtinBody, { seed: 1, numRuns: 300 }),
      mcpBody,
      ...fc.sample(customBody, { seed: 1, numRuns: 300 }),
    ]),
  ).toEqual([]);
});
