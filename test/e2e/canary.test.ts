/** A secret value that goes in by any door may be found in Secrets and nowhere else. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import { beforeAll, expect, inject, it } from 'vitest';

import { anAgent, anAgentRequest, aPhoneNumber, aSecret, aTool, aWebhookSubscription } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';

const stack = inject('stack');
const client = stackClient(stack);
const canary = `canary${randomBytes(12).toString('hex')}`;
const name = `canary-${randomBytes(4).toString('hex')}`;

/** The value may leak as it is, or in its base64 form, which is how a Secret would leak whole. */
const forms = [canary, Buffer.from(canary).toString('base64').replace(/=+$/, '').slice(0, -2)];
const leaks = (text: string): boolean => forms.some((form) => text.includes(form));

beforeAll(async () => {
  await client.kubectl(['apply', '-f', '-'], {
    input: {
      apiVersion: 'v1',
      kind: 'List',
      items: [
        // `kubectl apply` won't do: its last-applied annotation would hold stringData; that is kubectl's doing, on the Secret itself.
        aSecret(name, { apiKey: canary, password: canary, token: canary, current: `whsec_${Buffer.from(canary).toString('base64')}` }),
        anAgent(name, undefined, { llm: { provider: 'openai', model: 'gpt-4o-mini', apiKeySecretRef: { name, key: 'apiKey' } } }),
        aTool(name, undefined, {
          agentRefs: [{ name }],
          custom: {
            function: { name: 'look' },
            http: {
              url: 'https://api.example.com',
              headers: [{ name: 'Authorization', valueFrom: { secretKeyRef: { name, key: 'token' } } }],
            },
          },
        }),
        aPhoneNumber(name, `+1555${String(randomBytes(4).readUInt32BE() % 10_000_000).padStart(7, '0')}`, undefined, {
          type: 'SIP',
          sip: { terminationURI: 'sip.example.com', username: 'u', passwordSecretRef: { name, key: 'password' } },
        }),
        aWebhookSubscription(name, undefined, { signing: { mode: 'Secret', secretRef: { name } } }),
      ],
    },
  });
  await client.kubectl([
    'wait',
    '--for=condition=Ready',
    `agent/${name}`,
    `tool/${name}`,
    `phonenumber/${name}`,
    `webhooksubscription/${name}`,
    '--timeout=100s',
  ]);
});

it('goes in over REST and comes back masked', async () => {
  const created = await client.rest<{ ai_agent_id: string; llm: { api_key: string } }>(
    'POST',
    '/v2/ai-agents',
    anAgentRequest('Canary', {
      llm: { model_name: 'gpt-4o-mini', api_key: canary },
      dynamic_data_config: [{ url: 'https://crm.example.com', headers: { Authorization: `Bearer ${canary}`, 'X-Api-Key': canary } }],
    }),
  );
  expect(created.status).toBe(201);
  expect(leaks(created.text)).toBe(false);

  const id = created.body.ai_agent_id;
  await eventually(async () => {
    const { stdout } = await client.kubectl(['get', `agent/${id}`, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']);
    expect(stdout).toBe('True');
  });
  for (const path of [`/v2/ai-agents/${id}`, '/v2/ai-agents?page_size=100'])
    expect(leaks((await client.rest('GET', path)).text)).toBe(false);

  // Requests that fail after the secret was read must not repeat it either.
  const failures = [
    client.rest('PUT', `/v2/ai-agents/${id}`, { llm: { api_key: canary, model_temperature: 'hot' } }),
    client.rest('PUT', `/v2/ai-agents/${id}`, { llm: { api_key: [canary] } }),
    client.rest('PUT', `/v2/ai-agents/${name}`, { llm: { api_key: canary } }),
    client.rest('POST', '/v2/ai-agents', `{"llm": {"api_key": "${canary}"`),
    client.rest('GET', `/v2/ai-agents/${canary}`),
  ];
  for (const answer of await Promise.all(failures.slice(0, 4))) expect(leaks(answer.text)).toBe(false);
  const explained = await client.parley(['explain', `agent/${name}`]);
  expect(leaks(explained.stdout + explained.stderr)).toBe(false);
});

it('is in no resource but Secrets, and in no event', async () => {
  const listed = (await client.kubectl(['api-resources', '--verbs=list', '--namespaced', '-o', 'name'])).stdout.trim().split('\n');
  const others = listed.filter((resource) => resource !== 'secrets');
  expect(others).toContain('agents.parley.dev');
  for (const resource of others) {
    const { stdout } = await client.kubectl(['get', resource, '-A', '-o', 'yaml', '--show-managed-fields']);
    expect.soft(leaks(stdout), resource).toBe(false);
  }
  const secrets = (await client.kubectl(['get', 'secrets', '-A', '-o', 'yaml'])).stdout;
  expect(leaks(secrets), 'the grep itself works').toBe(true);
});

it('is in no log and in no file of the stack but those of etcd', () => {
  const found: string[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name !== 'etcd') walk(path);
      else if (entry.isFile() && statSync(path).size < 512 * 1024 * 1024 && leaks(readFileSync(path).toString('latin1'))) found.push(path);
    }
  };
  walk(join(stack.folder, '.parley'));
  expect(found).toEqual([]);
});

it('is in no metric', async () => {
  const token = stack.env.PARLEY_METRICS_TOKEN;
  const metrics = await client.rest('GET', '/metrics', undefined, token === undefined ? {} : { authorization: `Bearer ${token}` });
  expect(metrics.status, metrics.text).toBe(200);
  expect(leaks(metrics.text)).toBe(false);
});

it('is in no database row', async () => {
  const database = new pg.Client({ connectionString: stack.env.DATABASE_URL });
  await database.connect();
  try {
    const tables = await database.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    expect(tables.rows.length).toBeGreaterThan(3);
    for (const { name: table } of tables.rows) {
      const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t`);
      expect
        .soft(
          rows.rows.filter(({ row }) => leaks(row)),
          table,
        )
        .toEqual([]);
    }
  } finally {
    await database.end();
  }
});

it('is on no command line', () => {
  expect(leaks(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))).toBe(false);
});
