/** Each migration meets a database that has been in use: rows in every table that there was before it. */
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { migrate, readMigrations } from '../../../store/index.ts';
import { database } from '../../support/postgres.ts';

const org = 'acme';
const sha256 = 'ab'.repeat(32);
const [collection, document] = ['col_01234567-89ab-7cde-8f01-23456789abcd', 'doc_01234567-89ab-7cde-8f01-23456789abcd'];
const call = 'call_01234567-89ab-7cde-8f01-23456789abcd';
const event = 'parley.uuid_at(now())';

/** What was written in each version, with what its tables had then, by the number of the migration that made them. */
const rows: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  1: { organizations: `(name) VALUES ('${org}')` },
  2: {
    api_keys: `(org, key_id, public_id, secret_hash, last_four, name, permissions, expiration_date)
      VALUES ('${org}', 'key_01234567-89ab-7cde-8f01-23456789abcd', 'abcdefgh', '\\x${sha256}', 'abcd', 'first', '{*}', now())`,
  },
  3: {
    agent_revisions: `(org, agent_uid, revision, agent_name, config) VALUES ('${org}', 'uid', '${sha256}', 'receptionist', '{"agent": {"postCallAnalysis": [{}], "budget": {"daily": "25.00", "currency": "EUR"}}}')`,
    agent_serving: `(org, agent_uid, agent_name, revision) VALUES ('${org}', 'uid', 'receptionist', '${sha256}')`,
  },
  4: { rate_limits: `(subject, full_at, last_taken) VALUES ('key', now(), interval '1 second')` },
  5: {
    collections: `(org, id, name, uid, profile, model, dimension, language, max_tokens, overlap_tokens)
      VALUES ('${org}', '${collection}', 'manuals', 'uid', 'default', 'bm25', 0, 'en', 400, 50)`,
    documents: `(org, id, collection_id, kind, filename, status, stage) VALUES ('${org}', '${document}', '${collection}', 'text', 'a.txt', 'completed', 'completed')`,
    chunks: `(org, document_id, ordinal, text, indexed_text, tokens) VALUES ('${org}', '${document}', 0, 'a', 'a', 1)`,
    document_terms: `(org, document_id, terms, chunks) VALUES ('${org}', '${document}', '{1, 2}', '{1, 1}')`,
    term_frequencies: `(org, collection_id, term, chunks) VALUES ('${org}', '${collection}', 1, 1)`,
    embedding_cache: `(org, key, vector) VALUES ('${org}', '\\x${sha256}', '\\x00')`,
  },
  6: {
    vector_collections: `(org, collection_id) VALUES ('${org}', '${collection}')`,
    vector_chunks: `(org, collection_id, number, chunk_id, document_id, ordinal, metadata) VALUES ('${org}', '${collection}', 0, 'a', '${document}', 0, '{}')`,
    vector_postings: `(org, collection_id, term, block, entries) VALUES ('${org}', '${collection}', 1, 0, '\\x00000000')`,
  },
  7: {
    events: `(id, org, name) VALUES (${event}, '${org}', 'CallHandler.CallStarted')`,
    event_bodies: `(id, org, body) VALUES (${event}, '${org}', '\\x00')`,
    outbox: `(event_id, org) VALUES (${event}, '${org}')`,
    deliveries: `(id, org, event_id, event_name, subscription_uid, state, due_at) VALUES (${event}, '${org}', ${event}, 'CallHandler.CallStarted', 'uid', 'pending', now())`,
    delivery_attempts: `(delivery_id, number, org, subscription_uid, started_at, duration_ms, succeeded, reason) VALUES (${event}, 1, '${org}', 'uid', now(), 1, false, 'dns')`,
    webhook_endpoints: `(subscription_uid, org) VALUES ('uid', '${org}')`,
    webhook_watermarks: `(org) VALUES ('${org}')`,
  },
  9: {
    calls: `(org, id, call_type, status, agent_name, agent_display_name, agent_uid, revision, max_duration_ms, room)
      VALUES ('${org}', '${call}', 'web_call', 'registered', 'receptionist', 'Receptionist', 'uid', '${sha256}', 1000, 'room')`,
    call_messages: `(org, call_id, seq, role, content, spoken_at) VALUES ('${org}', '${call}', 0, 'agent', 'Hello', now())`,
    call_turns: `(org, call_id, seq) VALUES ('${org}', '${call}', 0)`,
  },
  12: { call_analyses: `(org, call_id) VALUES ('${org}', '${call}')` },
  13: { phone_routes: `(org, uid, name, number, provider) VALUES ('${org}', 'uid', 'main', '+15550100', 'sip')` },
  14: { dynamic_data_cache: `(org, key, answer, expires_at) VALUES ('${org}', '\\x${sha256}', '{}', now())` },
  17: { webhook_names: `(org, kind, name, subscription_uid) VALUES ('${org}', 'WebhookSubscription', 'orders', 'uid')` },
  22: {
    call_tool_calls: `(org, call_id, seq, name, arguments, result, failed, began_at, duration_ms)
      VALUES ('${org}', '${call}', 0, 'look_up', '{}', '{}', false, now(), 1)`,
  },
  24: {
    voice_servers: `(id, agent_name, free_places, starting, reported_at)
      VALUES ('01234567-89ab-7cde-8f01-23456789abcd', 'parley', 3, false, now())`,
  },
  25: {
    test_runs: `(org, id, agent_uid, agent_name, revision, config_hash, trigger) VALUES ('${org}', 'run', 'uid', 'receptionist', '${sha256}', '${sha256}', 'gate')`,
    test_results: `(org, run_id, test_uid, test_name, test_digest, required, mode, spec)
      VALUES ('${org}', 'run', 'uid', 'opening-hours', '${sha256}', true, 'text', '{}')`,
  },
  29: {
    // Its cost is what the agent has spent.
    call_usage: `(org, call_id, writer, kind, purpose, provider, model, requests, estimated_requests, input_tokens, cached_input_tokens,
      output_tokens, reasoning_tokens, characters, audio_ms, cost_micros, currency, price_version)
      VALUES ('${org}', '${call}', '01234567-89ab-7cde-8f01-23456789abcd', 'llm', 'conversation', 'openai', 'm', 1, 0, 2, 1, 3, 0, 0, 0, 7, 'USD', 'v')`,
  },
  23: { deleted_calls: `(org, call_id) VALUES ('${org}', 'gone')` },
  33: {
    call_usage: `(org, call_id, writer, kind, purpose, provider, model, requests, estimated_requests, input_tokens, cached_input_tokens,
      output_tokens, reasoning_tokens, characters, audio_ms)
      VALUES ('${org}', '${call}', '01234567-89ab-7cde-8f01-23456789abcd', 'rerank', 'conversation', 'cohere', 'm', 1, 0, 0, 0, 0, 0, 0, 0)`,
  },
  31: { tool_lists: `(org, tool_uid, tool_name, request, request_digest) VALUES ('${org}', 'uid', 'orders', '{}', '${sha256}')` },
  41: { idempotent_requests: `(org, api_key_id, key, fingerprint, claimed_until) VALUES ('${org}', 'key', 'a', '\\x${sha256}', now())` },
};

it('every migration is applied to rows of every version before it, and keeps them', async () => {
  const { url } = await database();
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const migrations = readMigrations();
  for (const { version } of migrations) {
    await migrate({ databaseUrl: url, migrations: migrations.slice(0, version) });
    for (const [table, values] of Object.entries(rows[version] ?? {})) await client.query(`INSERT INTO parley.${table} ${values}`);
  }
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND relname <> 'schema_migrations' ORDER BY 1`,
  );
  const counts: Record<string, number | undefined> = {};
  for (const { name } of tables)
    counts[name] = (await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM parley.${name}`)).rows[0]?.n;
  // A table that is missing above has no row: give it one, with the columns that its migration made.
  // Migration 32 indexes what filters can ask for, and usage has a second kind since migration 33.
  expect(counts).toEqual({ ...Object.fromEntries(tables.map(({ name }) => [name, 1])), vector_postings: 2, call_usage: 2 });
  const { rows: serving } = await client.query('SELECT budget FROM parley.agent_serving');
  expect(serving).toEqual([{ budget: { daily: '25.00', currency: 'EUR', timeZone: 'UTC' } }]);
});
