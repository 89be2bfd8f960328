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

/** Rows that were written before the next migration, by the number of the migration that made their table. */
const rows: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  1: {
    organizations: `(name) VALUES ('${org}')`,
    api_keys: `(org, key_id, public_id, secret_hash, last_four, name, permissions, expiration_date)
      VALUES ('${org}', 'key_01234567-89ab-7cde-8f01-23456789abcd', 'abcdefgh', '\\x${sha256}', 'abcd', 'first', '{*}', now())`,
    agent_revisions: `(org, agent_name, revision, config) VALUES ('${org}', 'receptionist', '${sha256}', '{"agent": {"postCallAnalysis": [{}]}}')`,
    agent_serving: `(org, agent_name, revision) VALUES ('${org}', 'receptionist', '${sha256}')`,
    agent_releases: `(org, agent_name, change, revision) VALUES ('${org}', 'receptionist', 'served', '${sha256}')`,
    rate_limits: `(subject, full_at, last_taken) VALUES ('key', now(), interval '1 second')`,
    collections: `(org, id, name, uid, profile, model, dimension, language, max_tokens, overlap_tokens)
      VALUES ('${org}', '${collection}', 'manuals', 'uid', 'default', 'bm25', 0, 'en', 400, 50)`,
    documents: `(org, id, collection_id, kind, filename, status, stage) VALUES ('${org}', '${document}', '${collection}', 'text', 'a.txt', 'completed', 'completed')`,
    chunks: `(org, document_id, ordinal, text, indexed_text, tokens) VALUES ('${org}', '${document}', 0, 'a', 'a', 1)`,
    document_terms: `(org, document_id, terms, chunks) VALUES ('${org}', '${document}', '{1, 2}', '{1, 1}')`,
    term_frequencies: `(org, collection_id, term, chunks) VALUES ('${org}', '${collection}', 1, 1)`,
    embedding_cache: `(org, key, vector) VALUES ('${org}', '\\x${sha256}', '\\x00')`,
    vector_collections: `(org, collection_id) VALUES ('${org}', '${collection}')`,
    vector_chunks: `(org, collection_id, number, chunk_id, document_id, ordinal, metadata) VALUES ('${org}', '${collection}', 0, 'a', '${document}', 0, '{}')`,
    vector_postings: `(org, collection_id, term, block, entries) VALUES ('${org}', '${collection}', 1, 0, '\\x00000000')`,
    events: `(id, org, name) VALUES (${event}, '${org}', 'CallHandler.CallStarted')`,
    event_bodies: `(id, org, body) VALUES (${event}, '${org}', '\\x00')`,
    outbox: `(event_id, org) VALUES (${event}, '${org}')`,
    deliveries: `(id, org, event_id, event_name, subscription_uid, state, due_at) VALUES (${event}, '${org}', ${event}, 'CallHandler.CallStarted', 'uid', 'pending', now())`,
    delivery_attempts: `(delivery_id, number, org, subscription_uid, started_at, duration_ms, succeeded, reason) VALUES (${event}, 1, '${org}', 'uid', now(), 1, false, 'dns')`,
    webhook_endpoints: `(subscription_uid, org) VALUES ('uid', '${org}')`,
    webhook_watermarks: `(org) VALUES ('${org}')`,
    calls: `(org, id, call_type, status, agent_name, agent_display_name, revision, max_duration_ms, room)
      VALUES ('${org}', '${call}', 'web_call', 'registered', 'receptionist', 'Receptionist', '${sha256}', 1000, 'room')`,
    call_messages: `(org, call_id, seq, role, content, spoken_at) VALUES ('${org}', '${call}', 0, 'agent', 'Hello', now())`,
    call_turns: `(org, call_id, seq) VALUES ('${org}', '${call}', 0)`,
    call_analyses: `(org, call_id) VALUES ('${org}', '${call}')`,
    dynamic_data_cache: `(org, key, answer, expires_at) VALUES ('${org}', '\\x${sha256}', '{}', now())`,
    webhook_names: `(org, kind, name, subscription_uid) VALUES ('${org}', 'WebhookSubscription', 'orders', 'uid')`,
    call_tool_calls: `(org, call_id, seq, name, arguments, result, failed, began_at, duration_ms)
      VALUES ('${org}', '${call}', 0, 'look_up', '{}', '{}', false, now(), 1)`,
    voice_servers: `(id, agent_name, free_places, starting, reported_at)
      VALUES ('01234567-89ab-7cde-8f01-23456789abcd', 'parley', 3, false, now())`,
    test_runs: `(org, id, agent_name, revision, config_hash, trigger) VALUES ('${org}', 'run', 'receptionist', '${sha256}', '${sha256}', 'gate')`,
    test_results: `(org, run_id, test_name, test_digest, required, mode, spec)
      VALUES ('${org}', 'run', 'opening-hours', '${sha256}', true, 'text', '{}')`,
    // Its cost is what the agent has spent: a row of agent_spending.
    call_usage: `(org, call_id, writer, kind, purpose, provider, model, requests, estimated_requests, input_tokens, cached_input_tokens,
      output_tokens, reasoning_tokens, characters, audio_ms, cost_micros, currency, price_version)
      VALUES ('${org}', '${call}', '01234567-89ab-7cde-8f01-23456789abcd', 'llm', 'conversation', 'openai', 'm', 1, 0, 2, 1, 3, 0, 0, 0, 7, 'USD', 'v')`,
    deleted_calls: `(org, call_id) VALUES ('${org}', 'gone')`,
    tool_lists: `(org, tool_uid, tool_name, request, request_digest) VALUES ('${org}', 'uid', 'orders', '{}', '${sha256}')`,
    idempotent_requests: `(org, api_key_id, key, fingerprint, claimed_until) VALUES ('${org}', 'key', 'a', '\\x${sha256}', now())`,
    number_claims: `(number, org, uid) VALUES ('+15550100', '${org}', 'uid')`,
    phone_routes: `(org, uid, name, number, type) VALUES ('${org}', 'uid', 'main', '+15550100', 'SIP')`,
  },
  3: {
    call_commands: `(org, call_id, id, kind, body, created_by_key)
      VALUES ('${org}', '${call}', 'cmd_01234567-89ab-7cde-8f01-23456789abcd', 'say', '{"text": "Hello"}', 'key')`,
  },
  4: {
    erasures: `(org, id, phone) VALUES ('${org}', 'erasure_01890a5d-ac96-774b-bcce-b302099a8057', '+15550100')`,
  },
  5: {
    call_agents: `(org, call_id, agent_name, revision) VALUES ('${org}', '${call}', 'billing', '${sha256}')`,
  },
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
  // A table that is missing above has no row: give it one, with the columns that its migration made. One table has its row from the first migration on.
  expect(counts).toEqual(Object.fromEntries(tables.map(({ name }) => [name, 1])));
});
