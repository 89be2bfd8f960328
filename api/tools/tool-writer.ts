/** Writes of single tools, with their secrets: made, changed, attached to an agent and detached from it. */
import { API_VERSION, toolKind, wellKnown, type Tool, type ToolSpec } from '../../crds/index.ts';
import { KubeError } from '../../kube/error.ts';
import type { KubeObject, Stored } from '../../kube/types.ts';
import type { Draft } from '../codec/present.ts';
import { companionName, SecretWriter } from '../codec/secrets.ts';
import type { Caller } from '../http/caller.ts';
import { restName } from '../partial/field-names.ts';
import { manager, updatePartially } from '../partial/partial-update.ts';
import { field, ownersOf } from '../partial/path.ts';
import { shapeOf } from '../partial/shape.ts';
import { companionWrites, orUndefined, type StagedValues } from '../resources/companions.ts';
import type { Foundation } from '../resources/foundation.ts';
import { mergePatch } from '../resources/merge-patch.ts';
import { randomId } from '../resources/names.ts';
import { retryStale } from '../resources/retry.ts';
import { ownerReferenceTo, stageMarks, withoutMarks } from '../resources/staging.ts';
import { toolSecretRefs } from './codec.ts';
import { toolFieldNames } from './field-names.ts';

/** Annotation, value `true`: made as part of an agent's body; it goes when the last agent lets go of it. */
export const inlineAnnotation = 'parley.dev/made-with-agent';

const shape = shapeOf(toolKind.spec);

export interface WriteMode {
  readonly dryRun: boolean;
  readonly force: boolean;
}

export interface NewTool {
  readonly org: string;
  readonly name: string;
  readonly spec: Draft<ToolSpec>;
  /** Values for its Secret, by key. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly caller: Caller;
  /** Made as part of this agent's body. Absent while the agent itself isn't there yet: then the tool is marked as staged for it. */
  readonly madeWith?: { readonly agentName: string; readonly agent?: Stored<KubeObject> };
}

export class ToolWriter {
  readonly #foundation: Foundation;

  constructor(foundation: Foundation) {
    this.#foundation = foundation;
  }

  /** The tool as it is now; undefined where there is none, or none any more. */
  async find(org: string, name: string): Promise<Stored<Tool> | undefined> {
    const tool = await orUndefined(this.#foundation.clients.tools.get({ namespace: org, name }));
    return tool?.metadata.deletionTimestamp === undefined ? tool : undefined;
  }

  /** For encoding a request: knows the present secrets, so that sending one again changes nothing. */
  async secretWriter(org: string, name: string, previous: Stored<Tool> | undefined): Promise<SecretWriter> {
    const { companions } = this.#foundation;
    const [stored, own] =
      previous === undefined
        ? [new Map<string, string>(), companionName('Tool', name)]
        : await Promise.all([companions.readSecrets(org, toolSecretRefs(previous.spec)), companions.nameFor('Secret', previous)]);
    return new SecretWriter({ name: own, stored, randomId: () => randomId(8) });
  }

  async create({ org, name, spec, secrets, caller, madeWith }: NewTool, { dryRun }: WriteMode): Promise<Stored<Tool>> {
    const { clients, companions, clock, views } = this.#foundation;
    const marks =
      madeWith !== undefined && madeWith.agent === undefined
        ? stageMarks({ for: { kind: 'Agent', name: madeWith.agentName }, at: new Date(clock.now()).toISOString(), keys: [] })
        : undefined;
    const annotations = {
      ...(caller.createdByUserId !== null && { [wellKnown.createdBy]: caller.createdByUserId }),
      ...(madeWith && { [inlineAnnotation]: 'true' }),
      ...marks?.annotations,
    };
    const ownerReferences = madeWith?.agent === undefined ? undefined : [ownerReferenceTo(madeWith.agent)];
    const metadata = {
      namespace: org,
      name,
      annotations,
      ...(marks && { labels: marks.labels }),
      ...(ownerReferences && { ownerReferences }),
    };
    const object = { apiVersion: API_VERSION, kind: 'Tool', metadata, spec } as unknown as Tool;
    if (dryRun) return clients.tools.apply(object, { dryRun });
    const values = {
      kind: 'Secret',
      namespace: org,
      name: companionName('Tool', name),
      values: secrets,
      replaced: [],
      for: { kind: 'Tool', name },
    } as const;
    const staged = secrets.size === 0 ? undefined : await companions.stage(values);
    const tool = await discardOnFailure(staged, () => clients.tools.apply(object));
    await staged?.commit(tool);
    views.tools.wrote(tool);
    return tool;
  }

  /** The agent for which the tool was made is there: takes the marks off. */
  async settle(org: string, name: string, agent: Stored<KubeObject>): Promise<void> {
    const { transport, clients, views } = this.#foundation;
    const tool = await mergePatch<Tool>(
      transport,
      { descriptor: clients.tools.descriptor, namespace: org, name },
      { metadata: { ...withoutMarks, ownerReferences: [ownerReferenceTo(agent)] } },
    );
    views.tools.wrote(tool);
  }

  /**
   * Changes one tool; `change` gets the present spec and answers the whole spec as it should be, with new secrets.
   * @returns undefined when the tool is gone
   */
  async update(
    org: string,
    name: string,
    change: (tool: Stored<Tool>) => Promise<{ readonly spec: Draft<ToolSpec>; readonly secrets?: ReadonlyMap<string, string> }>,
    mode: WriteMode,
  ): Promise<Stored<Tool> | undefined> {
    const { clients, companions, mutex, views } = this.#foundation;
    return mutex.run(`Tool/${org}/${name}`, () =>
      retryStale(this.#foundation, async () => {
        const stored = await this.find(org, name);
        if (stored === undefined) return undefined;
        const { spec, secrets = new Map<string, string>() } = await change(stored);
        const apply = (dryRun: boolean): Promise<Stored<Tool>> =>
          updatePartially({
            client: clients.tools,
            stored,
            desired: spec,
            shape,
            force: mode.force,
            dryRun,
            nameOf: (path) => restName(toolFieldNames, path),
          });
        if (mode.dryRun) return apply(true);
        const writes = companionWrites({
          kind: 'Secret',
          namespace: org,
          for: { kind: 'Tool', name },
          owner: stored,
          name: secrets.size > 0 ? await companions.nameFor('Secret', stored) : companionName('Tool', name),
          values: secrets,
          before: toolSecretRefs(stored.spec),
          after: toolSecretRefs(spec),
        });
        if (writes.length > 0) await apply(true);
        const staged: StagedValues[] = [];
        for (const write of writes) staged.push(await discardOnFailure(staged, () => companions.stage(write)));
        const tool = await discardOnFailure(staged, () => apply(false));
        for (const each of staged) await each.commit(tool);
        views.tools.wrote(tool);
        return tool;
      }),
    );
  }

  /** To be called when an agent was added: a tool made with the body of one agent doesn't go with it any more. */
  async attached(tool: Stored<Tool>): Promise<void> {
    if ((tool.metadata.ownerReferences ?? []).length === 0 || (tool.spec.agentRefs ?? []).length < 2) return;
    const { transport, clients } = this.#foundation;
    await mergePatch(
      transport,
      { descriptor: clients.tools.descriptor, namespace: tool.metadata.namespace ?? '', name: tool.metadata.name },
      { metadata: { ownerReferences: null } },
    );
  }

  /**
   * Takes `agentName` out of the tool's agents. A tool that was made with an agent goes with the last one that lets go of it, in one
   * write: a process that dies leaves no tool without agents behind.
   */
  async detach(org: string, name: string, agentName: string, mode: WriteMode): Promise<void> {
    const gone = await retryStale(this.#foundation, async () => {
      const stored = await this.find(org, name);
      if (stored === undefined || !goesWith(stored, agentName) || (!mode.force && heldByOthers(stored))) return stored === undefined;
      const { uid, resourceVersion } = stored.metadata;
      const { clients, views } = this.#foundation;
      await orUndefined(clients.tools.delete({ namespace: org, name }, { uid, resourceVersion, dryRun: mode.dryRun }));
      if (!mode.dryRun) views.tools.deleted(stored);
      return true;
    });
    if (!gone) await this.update(org, name, async (stored) => ({ spec: withoutAgent(stored.spec, agentName) }), mode);
  }
}

/** Whether the tool was made with an agent, and `agentName` is the last one it has. */
function goesWith({ metadata, spec }: Stored<Tool>, agentName: string): boolean {
  return metadata.annotations?.[inlineAnnotation] === 'true' && (spec.agentRefs ?? []).every(({ name }) => name === agentName);
}

/** Somebody else has a say in which agents have the tool: then it is theirs to let go of. */
function heldByOthers(tool: Stored<Tool>): boolean {
  return ownersOf(tool, [field('spec'), field('agentRefs')], manager).length > 0;
}

export function withAgent(spec: ToolSpec, agentName: string): ToolSpec {
  const refs = spec.agentRefs ?? [];
  return refs.some(({ name }) => name === agentName) ? spec : { ...spec, agentRefs: [...refs, { name: agentName }] };
}

function withoutAgent(spec: ToolSpec, agentName: string): Draft<ToolSpec> {
  const { agentRefs = [], ...rest } = spec;
  const left = agentRefs.filter(({ name }) => name !== agentName);
  return left.length === 0 ? rest : { ...rest, agentRefs: left };
}

/**
 * What was staged for a write that is refused is taken back. Where it is uncertain whether the write happened, or taking back
 * fails too, the sweeper decides later.
 */
export async function discardOnFailure<T>(staged: StagedValues | readonly StagedValues[] | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isUncertain(error)) await Promise.allSettled([staged ?? []].flat().map((values) => values.discard()));
    throw error;
  }
}

/** The write may have happened all the same: there was no answer, or one that doesn't say. */
export function isUncertain(error: unknown): boolean {
  return error instanceof KubeError && (error.code === 0 || error.code >= 500);
}
