/** Kills processes with SIGKILL in the middle of the work: nothing is lost or doubled, and everything is Ready again by itself. */
import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';
import { expect, inject, it } from 'vitest';

import { anAgentRequest, aTool, type TestManifest } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';

const stack = inject('stack');
const client = stackClient(stack);

interface Agents {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
    readonly spec: { readonly displayName?: string };
    readonly status?: {
      readonly observedGeneration: number;
      readonly tools: number;
      readonly conditions: readonly { readonly type: string; readonly status: string }[];
    };
  }[];
}

function labelled(manifest: TestManifest, test: string): unknown {
  return { ...manifest, metadata: { ...manifest.metadata, labels: { test } } };
}

it.each(['operator', 'api', 'kube-apiserver'])('survives two kills of %s under load', async (part) => {
  const acknowledged = new Map<string, string>();
  let unanswered = 0;
  let stop = false;
  const load = (async () => {
    for (let n = 0; !stop; n += 1) {
      const request = client.rest<{ ai_agent_id: string }>('POST', '/v2/ai-agents', anAgentRequest(`${part} ${n}`));
      // Without an answer nothing was promised.
      const created = await request.catch(() => undefined);
      if (created?.status !== 201) {
        expect([undefined, 503], created?.text).toContain(created?.status);
        unanswered += 1;
        await delay(100);
        continue;
      }
      acknowledged.set(created.body.ai_agent_id, `${part} ${n}`);
      const tool = labelled(aTool(`t-${part}-${n}`, undefined, { agentRefs: [{ name: created.body.ai_agent_id }] }), part);
      await client.kubectl(['apply', '--server-side', '-f', '-'], { input: tool, allowFailure: true });
    }
  })();

  for (let kill = 0; kill < 2; kill += 1) {
    // Since the last one an agent was made, and is Ready: all parts work again.
    const before = acknowledged.size;
    const latest = await eventually(() => {
      expect(acknowledged.size).toBeGreaterThan(before);
      return [...acknowledged.keys()].at(-1);
    });
    await client.kubectl(['wait', '--for=condition=Ready', `agent/${latest}`, '--timeout=300s']);
    await client.kill(part);
  }
  stop = true;
  await load;

  const agents = await eventually(async () => {
    // Others of the stack may be broken on purpose.
    const own = (await client.getJson<Agents>(['agents'])).items.filter(({ spec }) => spec.displayName?.startsWith(`${part} `));
    for (const agent of own) {
      const ready = agent.status?.conditions.find((condition) => condition.type === 'Ready');
      expect([agent.metadata.name, ready?.status, agent.status?.observedGeneration]).toEqual([
        agent.metadata.name,
        'True',
        agent.metadata.generation,
      ]);
    }
    return own;
  }, 1_000);

  const names = new Map(agents.map((agent) => [agent.metadata.name, agent.spec.displayName ?? '']));
  for (const [id, name] of acknowledged) expect(names.get(id), id).toBe(name);

  // Nothing is doubled: an unanswered POST made at most the one agent it asked for, and each agent serves one revision.
  const made = [...names.values()];
  expect(new Set(made).size).toBe(made.length);
  expect(made.length).toBeLessThanOrEqual(acknowledged.size + unanswered);
  const database = new pg.Client({ connectionString: stack.env.DATABASE_URL });
  await database.connect();
  try {
    const doubled = await database.query(
      'SELECT org, agent_name, count(*) FROM agent_serving WHERE retired_at IS NULL GROUP BY 1, 2 HAVING count(*) > 1',
    );
    expect(doubled.rows).toEqual([]);
  } finally {
    await database.end();
  }
  await client.kubectl(['delete', 'tools', '-l', `test=${part}`]);
  await client.kubectl(['delete', ...[...names.keys()].map((id) => `agent/${id}`)]);
});
