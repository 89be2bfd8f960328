import { expect, it } from 'vitest';

import { describedRoutes } from './described-routes.ts';
import { openApiDocument } from './document.ts';
import type { OpenApiObject } from './schemas.ts';

/**
 * Lists every answered field that may be null. The contract writes "or null" for those of phone numbers and of the list of subscriptions;
 * it doesn't describe the other objects. A field that the contract types without "or null" is absent when unset.
 */
const documented = {
  CarrierPhoneNumber: ['carrier_account_sid', 'carrier_auth_token', 'friendly_name', 'inbound_agent_id', 'outbound_agent_id'],
  NativePhoneNumber: ['friendly_name', 'inbound_agent_id', 'outbound_agent_id'],
  SipPhoneNumber: [
    'friendly_name',
    'inbound_agent_id',
    'outbound_agent_id',
    'sip_termination_uri',
    'sip_trunk_password',
    'sip_trunk_username',
  ],
  AgentList: ['next_page_token'],
  AgentRevisionList: ['next_page_token'],
  AgentTestList: ['next_page_token'],
  BuiltinToolList: ['next_page_token'],
  CallList: ['next_page_token'],
  CustomToolList: ['next_page_token'],
  DocumentList: ['next_page_token'],
  McpToolList: ['next_page_token'],
  KnowledgeBaseList: ['next_page_token'],
  PhoneNumberList: ['next_page_token'],
  AgentWebhookDeliveryList: ['next_page_token'],
  WebhookDeliveryList: ['next_page_token'],
  WebhookSubscriptionList: ['next_page_token'],
  TestRunList: ['next_page_token'],
  CallTurn: ['eou', 'llm_ttft', 'stt', 'timestamp', 'tts_ttfb', 'v2v'],
  CallUsage: ['cost'],
  UsageItem: ['cost'],
  CallAnalysis: ['completed_at', 'error'],
  CallAnalysisItem: ['error', 'result'],
  CallAnalysisResults: ['completed_at', 'error'],
  Document: ['created_by_user_id', 'page_urls', 'sha256', 'size_bytes', 'source', 'title'],
  DocumentProgress: ['total'],
  KnowledgeBase: ['description', 'user_id'],
  WebhookAttempt: ['status_code'],
  AgentWebhookDelivery: ['ended_at', 'next_attempt_at', 'reason'],
  WebhookDelivery: ['ended_at', 'next_attempt_at', 'reason'],
  WebhookSecretRotation: ['previous_secret_expires_at'],
};

it('an answered field is null only where the contract says so, or describes nothing', () => {
  const { components, paths } = openApiDocument(describedRoutes()) as unknown as {
    readonly components: { readonly schemas: Readonly<Record<string, OpenApiObject>> };
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: unknown }>>>>;
  };
  const answers = Object.values(paths).flatMap((path) => Object.values(path).map(({ responses }) => responses));
  const found: Record<string, string[]> = {};
  for (const name of reachable(answers, components.schemas)) {
    const fields = [...new Set(nullable(components.schemas[name], []))].toSorted();
    if (fields.length > 0) found[name] = fields;
  }
  expect(answers.flatMap((answer) => nullable(answer, []))).toEqual([]);
  expect(
    found,
    'answer an unset field as absent: `.optional()`; or name it above and in docs/reference/rest.md#fields-that-are-unset',
  ).toEqual(documented);
});

/** Returns the components that `from` refers to, directly or through others. */
function reachable(from: unknown, schemas: Readonly<Record<string, OpenApiObject>>, seen = new Set<string>()): ReadonlySet<string> {
  for (const [, name = ''] of JSON.stringify(from).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (seen.has(name)) continue;
    seen.add(name);
    reachable(schemas[name], schemas, seen);
  }
  return seen;
}

/** Returns paths of the properties that may be null; items of lists have the path of their list. */
function nullable(schema: unknown, path: readonly string[]): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => nullable(each, path));
  if (typeof schema !== 'object' || schema === null) return [];
  const own = [(schema as OpenApiObject)['type']].flat().includes('null') ? [path.join('.')] : [];
  const below = Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'example' || key === 'examples') return [];
    if (key !== 'properties') return nullable(value, path);
    return Object.entries(value as OpenApiObject).flatMap(([name, each]) => nullable(each, [...path, name]));
  });
  return [...own, ...below];
}
