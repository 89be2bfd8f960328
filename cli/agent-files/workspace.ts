/** Agents, tools and tests of a folder, compiled as the operator compiles them. */
import type { Agent, AgentTest, KnowledgeBase, Tool } from '../../crds/index.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { agentRemarks, toolDataRemarks } from '../../crds/agent-consistency.ts';
import { API_VERSION, type Resource } from '../../crds/kind.ts';
import { toolRemarks } from '../../crds/tool-consistency.ts';
import { agentReferences } from '../../operator/references/references-of.ts';
import { memorySnapshot, type DataEntry } from '../../operator/references/memory-snapshot.ts';
import { compileRevision, type CompiledRevision } from '../../operator/agent/revision.ts';
import { withinLimits } from '../../operator/agent/plan.ts';
import { offeredTools } from '../../operator/tool/attachment.ts';
import { findReachableAgents } from '../../calls/handoffs.ts';
import type { SecretKeyRef } from '../../calls/provider-access/index.ts';
import { checkSpec, testedKinds } from './check-object.ts';
import { fileKeys } from './keys.ts';
import { listToolsOf, viewIn, type Kept } from './tool-lists.ts';
import { located, readObjects, UnreadableFileError, type SourceObject } from './documents.ts';

/** Objects that name no namespace are in this one. */
const DEFAULT_NAMESPACE = 'default';

export type LoadedAgent = { readonly source: SourceObject } & (
  | {
      readonly compiled: CompiledRevision;
      readonly problems?: undefined;
      /** Describes, as problems are, fields that have no effect or may lack a value. */
      readonly remarks: readonly string[];
    }
  /** Each problem reads `file:line: path: message`. */
  | { readonly compiled?: undefined; readonly problems: readonly string[] }
);

export interface LoadedTest {
  readonly name: string;
  readonly namespace: string;
  readonly source: SourceObject;
  /** Undefined where the object would not be accepted. */
  readonly spec: AgentTest['spec'] | undefined;
  readonly problems: readonly string[];
  /** The list is there for a test that is not sound, too. */
  readonly agents: readonly string[];
}

export interface Workspace {
  readonly tests: readonly LoadedTest[];
  /** Keys are made by {@link agentKey}. */
  readonly agents: ReadonlyMap<string, LoadedAgent>;
  /** Returns a value of a Secret in the files; undefined where it has no such key. */
  readonly secret: (namespace: string, ref: SecretKeyRef) => string | undefined;
}

export const agentKey = (namespace: string, name: string): string => `${namespace}/${name}`;

/** @throws UnreadableFileError */
export async function loadWorkspace(
  paths: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  mode: Kept['mode'] = 'live',
): Promise<Workspace> {
  const sources = await readObjects(paths);
  refuseDuplicates(sources);
  const checked = sources.flatMap((source) => {
    const { apiVersion, kind: name } = source.object;
    const kind = apiVersion === API_VERSION ? testedKinds.find(({ descriptor }) => descriptor.kind === name) : undefined;
    if (kind === undefined) return [];
    const { spec, problems } = checkSpec(kind, source.object['spec']);
    return [{ source, spec, problems: problems.map(({ path, message }) => located(source, path, message)) }];
  });
  const of = (kind: string): readonly Resource<unknown>[] =>
    checked.flatMap(({ source, spec }) => (source.object.kind === kind && spec !== undefined ? [resourceOf(source, spec)] : []));
  const faults = (kind: string) => checked.filter(({ source, problems }) => source.object.kind === kind && problems.length > 0);
  const secrets = sources.filter(({ object }) => object.kind === 'Secret');
  const secret: Workspace['secret'] = (namespace, { name, key }) => {
    const source = secrets.find((one) => sourceNamespace(one) === namespace && one.object.metadata.name === name);
    return source === undefined ? undefined : secretData(source)[key];
  };
  const allTools = of('Tool') as readonly Tool[];
  const fileOf: Kept['fileOf'] = ({ metadata }) =>
    sources.find((one) => one.object.kind === 'Tool' && resourceOf(one, {}).metadata.uid === metadata.uid)?.file ?? '';
  const keys = fileKeys({ env, secret, models: [], others: undefined, needed: true });
  const lists = await listToolsOf(allTools, keys, { mode, fileOf });
  const snapshot = memorySnapshot({
    organizations: [...new Set(sources.map(sourceNamespace))],
    agents: of('Agent') as readonly Agent[],
    tools: allTools,
    toolList: viewIn(lists),
    knowledgeBases: of('KnowledgeBase') as readonly KnowledgeBase[],
    secrets: secrets.map((source) => dataEntry(source, secretData(source))),
    configMaps: sources
      .filter(({ object }) => object.kind === 'ConfigMap')
      .map((source) => dataEntry(source, textData(source.object['data']))),
  });
  const load = ({ source, spec, problems }: (typeof checked)[number]): LoadedAgent => {
    const namespace = sourceNamespace(source);
    const { name } = source.object.metadata;
    if (spec === undefined) return { source, problems };
    const agent = resourceOf(source, spec) as Agent;
    const missing = agentReferences(agent).flatMap(({ kind, name: wanted, key, field }) => {
      // Secrets may come from the environment instead.
      if (kind === 'KnowledgeBase' && snapshot.knowledgeBase(namespace, wanted) === undefined)
        return [located(source, field, `there is no KnowledgeBase ${wanted} in the files`)];
      if (kind === 'Agent' && wanted === name) return [located(source, field, 'must not name the agent itself')];
      if (kind === 'Agent' && snapshot.agent(namespace, wanted) === undefined)
        return [located(source, field, `there is no Agent ${wanted} in the files`)];
      const found = kind === 'ConfigMap' ? snapshot.configMap(namespace, wanted) : undefined;
      if (found === undefined || (found.state === 'present' && (key === undefined || found.keys.has(key)))) return [];
      return [located(source, field, `there is no ConfigMap ${wanted} with the key "${key}" in the files`)];
    });
    const tools = faults('Tool').filter((tool) => namesAgent(tool.source, namespace, name));
    const all = [...problems, ...missing, ...tools.flatMap((tool) => tool.problems)];
    if (all.length > 0) return { source, problems: all };
    const offered = offeredTools(namespace, name, snapshot);
    const unlisted = offered.flatMap((tool) => {
      const view = snapshot.toolList(tool);
      const failure = view.state === 'known' ? view.failure : undefined;
      return failure === undefined
        ? []
        : [`Tool ${tool.metadata.name}: failed to list the tools of ${tool.spec.mcp?.url ?? ''}: ${failure}`];
    });
    if (unlisted.length > 0) return { source, problems: unlisted };
    const compiled = compileRevision(agent, withinLimits(offered, snapshot), snapshot);
    const ofTools = offered.flatMap((tool) => {
      const file = sources.find((one) => one.object.kind === 'Tool' && resourceOf(one, {}).metadata.uid === tool.metadata.uid);
      const found = [...toolRemarks(tool.spec), ...toolDataRemarks(tool.spec, agent.spec)];
      return file === undefined ? [] : found.map(({ path, message }) => located(file, path, message));
    });
    const own = agentRemarks(agent.spec, compiled.config.systemPrompt ?? undefined);
    return { source, compiled, remarks: [...own.map(({ path, message }) => located(source, path, message)), ...ofTools] };
  };
  return {
    agents: new Map(
      checked
        .filter(({ source }) => source.object.kind === 'Agent')
        .map((one) => [agentKey(sourceNamespace(one.source), one.source.object.metadata.name), load(one)]),
    ),
    tests: checked
      .filter(({ source }) => source.object.kind === 'AgentTest')
      .map(({ source, spec, problems }) => ({
        name: source.object.metadata.name,
        namespace: sourceNamespace(source),
        source,
        spec: spec as AgentTest['spec'] | undefined,
        problems,
        agents: agentNames(source),
      })),
    secret,
  };
}

/** Returns the sound agents of the files that a call may be handed over to. */
export async function otherAgents(
  { agents }: Pick<Workspace, 'agents'>,
  namespace: string,
  config: AgentRevisionConfig,
): Promise<ReadonlyMap<string, AgentRevisionConfig>> {
  const found = await findReachableAgents({ config }, (name) => agents.get(agentKey(namespace, name))?.compiled);
  return new Map([...found].map(([name, compiled]) => [name, compiled.config]));
}

const sourceNamespace = ({ object }: SourceObject): string => object.metadata.namespace ?? DEFAULT_NAMESPACE;

/** Builds an object as the API server would hold it. The revision of the same files is the same on every machine. */
function resourceOf(source: SourceObject, spec: unknown): Resource<unknown> {
  const { object } = source;
  const namespace = sourceNamespace(source);
  const { name } = object.metadata;
  return { ...object, metadata: { ...object.metadata, namespace, uid: `${object.kind}/${namespace}/${name}`, generation: 1 }, spec };
}

function refuseDuplicates(sources: readonly SourceObject[]): void {
  const seen = new Map<string, SourceObject>();
  for (const source of sources) {
    const { kind, metadata } = source.object;
    const key = `${kind} ${sourceNamespace(source)}/${metadata.name}`;
    const before = seen.get(key);
    if (before !== undefined)
      throw new UnreadableFileError(
        `${source.file}:${source.lineOf('metadata.name')}: ${key} is also in ${before.file}:${before.lineOf('metadata.name')}: name one of them otherwise, or give only one of the files`,
      );
    seen.set(key, source);
  }
}

function agentNames({ object }: SourceObject): readonly string[] {
  const { agentRefs } = (object['spec'] ?? {}) as { readonly agentRefs?: unknown };
  if (!Array.isArray(agentRefs)) return [];
  return agentRefs.flatMap((ref: unknown) => {
    const { name } = (ref ?? {}) as { readonly name?: unknown };
    return typeof name === 'string' ? [name] : [];
  });
}

const namesAgent = (source: SourceObject, namespace: string, agent: string): boolean =>
  sourceNamespace(source) === namespace && agentNames(source).includes(agent);

function dataEntry(source: SourceObject, data: Readonly<Record<string, string>>): DataEntry {
  const namespace = sourceNamespace(source);
  const { name } = source.object.metadata;
  return { namespace, name, uid: `${source.object.kind}/${namespace}/${name}`, resourceVersion: '1', keys: Object.keys(data), data };
}

function textData(data: unknown): Record<string, string> {
  const entries = Object.entries((data ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(entries.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])));
}

function secretData({ object }: SourceObject): Record<string, string> {
  const encoded = Object.entries(textData(object['data'])).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);
  return { ...(Object.fromEntries(encoded) as Record<string, string>), ...textData(object['stringData']) };
}
