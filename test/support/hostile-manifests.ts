/** Makes resources that are meant to take the operator long to reconcile: each about as large as its schema takes it. */
import { anAgent, aTool, type TestManifest } from './builders.ts';
import { hostileSchemas } from './hostile-bodies.ts';

const listOf = <T>(length: number, item: (index: number) => T): T[] => Array.from({ length }, (_, index) => item(index));

/** Number of agents in {@link hostileManifests}. */
const AGENTS = 4;
/** Together the tools are more than a revision takes. */
const LARGE_TOOLS = 60;
/** Returns values for a schema; more of them take the API server itself half a minute. */
const freeValues = (seed: number): Readonly<Record<string, unknown>> => ({ values: listOf(6000, (at) => at % 10), seed });

/** @param seed makes them differ from those of other seeds, so that all are judged and compiled again */
export function hostileManifests(namespace: string, seed: number): readonly TestManifest[] {
  const agentRefs = listOf(AGENTS, (at) => ({ name: `hostile-${at}` }));
  const schemas = Object.values(hostileSchemas(seed)).map((parameters, at) =>
    aTool(`schema-${at}`, namespace, {
      agentRefs,
      custom: { function: { name: `schema_${at}`, parameters: { ...parameters, type: 'object' } }, http: { url: 'https://example.com' } },
    }),
  );
  const large = listOf(LARGE_TOOLS, (at) =>
    aTool(`large-${at}`, namespace, {
      agentRefs,
      custom: {
        function: { name: `large_${at}`, parameters: { title: String(seed), anyOf: listOf(900, (each) => ({ const: at + each })) } },
        http: {
          url: `https://example.com/${'{'.repeat(2000)}`,
          headers: listOf(32, (each) => ({ name: `x-${each}`, value: 'x'.repeat(1000) })),
          fixedParams: { fixed: { value: freeValues(seed) } },
          runtimeParams: { runtime: { value: freeValues(seed + at) } },
        },
      },
    }),
  );
  const agents = listOf(AGENTS, (at) =>
    anAgent(`hostile-${at}`, namespace, {
      llm: { provider: 'openai', model: 'm', systemPrompt: '{'.repeat(4096) },
      dynamicData: listOf(2, (each) => ({
        name: `lookup-${each}`,
        url: `https://example.com${'{'.repeat(2000)}`,
        headers: listOf(8, (header) => ({ name: `x-${header}`, value: 'x'.repeat(4000) })),
        body: freeValues(seed),
        response: listOf(8, (value) => ({ name: `value-${value}`, path: `$${'.a'.repeat(250)}` })),
      })),
    }),
  );
  return [...agents, ...schemas, ...large];
}
