import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Agent, AgentStatus } from '../../crds/index.ts';
import { agentProblems } from '../../crds/limits.ts';
import { agentReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/resolve.ts';
import { promptText, type World } from '../references/world.ts';
import type { Plan } from '../runtime/plan.ts';
import { commonFields, hasFinalizer, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { summarize, type Stage } from '../status/conditions.ts';
import { planHeldUpDeletion } from '../status/deletion.ts';
import type { Problem } from '../status/reasons.ts';
import { specProblems } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { offeredTools } from '../tool/attachment.ts';
import { usability } from '../tool/plan.ts';
import { compileRevision, type CompiledRevision } from './revision.ts';

/** What is known about the agent in Postgres. */
export type StoreView =
  | {
      readonly state: 'known';
      readonly serving?: Serving;
      /** A revision that Postgres would not take, and why: trying again changes nothing. */
      readonly rejected?: { readonly revision: string; readonly message: string };
    }
  /** Neither read nor written: what the status says is believed until Postgres answers again. `why` says what is wrong and what to do. */
  | { readonly state: 'unavailable'; readonly why: string };

export interface Serving {
  readonly revision: string;
  /** RFC 3339. */
  readonly activeSince: string;
}

export type AgentAction =
  | { readonly type: 'addFinalizer' }
  | { readonly type: 'serve'; readonly revision: string; readonly config: AgentRevisionConfig }
  | { readonly type: 'retire' }
  | { readonly type: 'dropFinalizer' };

export interface AgentPlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a deletion waits for Postgres, in milliseconds. */
  readonly deletionGraceMs: number;
}

/** More functions than this no model is offered well; the providers' own limits are about there. Nothing is compiled beyond it, for tools attach themselves. */
export const TOOLS_LIMIT = 128;
/** Names shown in the status. */
const TOOL_NAMES_SHOWN = 64;

/**
 * `desiredRevision` follows the spec at once, whatever is wrong with it; `servingRevision` only moves to a revision
 * that is sound and stored, so that a broken edit never takes a working agent off the air.
 */
export function planAgent(agent: Agent, world: World, store: StoreView, options: AgentPlanOptions): Plan<AgentAction, AgentStatus> {
  if (isDeleting(agent)) return planDeletion(agent, store, options);
  if (isSuspended(agent)) return { actions: [], status: suspendedStatus(agent, options.now) };
  const namespace = agent.metadata.namespace ?? '';
  const serving = servingOf(agent, store);
  const foreign = notAnOrganization(namespace, world);
  if (foreign.length > 0) {
    const verdicts = summarize([accepted(foreign)], { message: '' });
    return { actions: [], status: { ...commonFields(agent, verdicts, options.now), ...servingFields(serving) } };
  }

  const offered = offeredTools(namespace, agent.metadata.name, world);
  const tools = offered.slice(0, TOOLS_LIMIT);
  const compiled = compileRevision(agent, tools, world);
  const acceptance = [...specProblems(agentProblems(agent.spec)), ...tooMany(offered.length)];
  const references = [
    ...unresolved(namespace, agentReferences(agent), world),
    ...promptProblems(agent, world),
    ...tools.flatMap((tool) =>
      usability(tool, world).map((problem): Problem => ({
        reason: 'ToolNotUsable',
        message: `Tool ${namespace}/${tool.metadata.name} is not usable: ${problem.message}`,
      })),
    ),
  ];
  const sound = acceptance.length === 0 && references.length === 0;
  const current = serving?.revision === compiled.revision;
  const rejected = store.state === 'known' && store.rejected?.revision === compiled.revision ? store.rejected.message : undefined;
  // Where an address may not be called, nothing is delivered to it; calls don't wait for that.
  const verdicts = summarize(
    [accepted([...acceptance, ...forbiddenWebhook(agent, world)]), resolvedRefs(references), synced({ sound, current, rejected, store })],
    {
      message: 'new calls start with the revision that the spec asks for',
      aside: serving === undefined || current ? undefined : 'calls go on with the last sound revision',
    },
  );
  return {
    actions: sound && !current && rejected === undefined && store.state === 'known' ? putIntoService(agent, compiled) : [],
    status: {
      ...commonFields(agent, verdicts, options.now),
      desiredRevision: compiled.revision,
      configHash: compiled.configHash,
      ...servingFields(serving),
      tools: offered.length,
      toolNames: offered
        .map((tool) => tool.metadata.name)
        .sort()
        .slice(0, TOOL_NAMES_SHOWN),
    },
  };
}

/** The finalizer comes first: a revision that is stored without one would outlive its agent. */
function putIntoService(agent: Agent, { revision, config }: CompiledRevision): readonly AgentAction[] {
  return [...(hasFinalizer(agent) ? [] : [{ type: 'addFinalizer' } as const]), { type: 'serve', revision, config }];
}

function synced(known: {
  readonly sound: boolean;
  readonly current: boolean;
  readonly rejected: string | undefined;
  readonly store: StoreView;
}): Stage {
  const good = { reason: 'RevisionServed', message: 'the revision is stored and serving' } as const;
  if (!known.sound) {
    return {
      type: 'Synced',
      good,
      problems: [
        {
          reason: 'RevisionWithheld',
          message: 'the desired revision is not put into service until the spec is accepted and every reference exists',
        },
      ],
    };
  }
  if (known.current) return { type: 'Synced', good, problems: [] };
  if (known.rejected !== undefined) return { type: 'Synced', good, problems: [{ reason: 'RevisionRejected', message: known.rejected }] };
  const waiting: Problem =
    known.store.state === 'unavailable'
      ? { reason: 'StoreUnavailable', message: `the revision cannot be stored: ${known.store.why}; the operator tries again by itself` }
      : { reason: 'RevisionPending', message: 'the revision is being stored' };
  return { type: 'Synced', good, problems: [waiting] };
}

function servingOf(agent: Agent, store: StoreView): Serving | undefined {
  if (store.state === 'known') return store.serving;
  const { servingRevision, activeSince } = agent.status ?? {};
  return servingRevision === undefined ? undefined : { revision: servingRevision, activeSince: activeSince ?? '' };
}

function servingFields(serving: Serving | undefined): Pick<AgentStatus, 'servingRevision' | 'activeSince'> {
  if (serving === undefined) return {};
  return { servingRevision: serving.revision, ...(serving.activeSince === '' ? {} : { activeSince: serving.activeSince }) };
}

function forbiddenWebhook({ spec }: Agent, { addresses }: World): readonly Problem[] {
  const message = spec.webhookURL === undefined ? undefined : addresses.web(spec.webhookURL);
  return message === undefined ? [] : [{ reason: 'AddressForbidden', message: `spec.webhookURL: ${message}` }];
}

function tooMany(count: number): readonly Problem[] {
  if (count <= TOOLS_LIMIT) return [];
  return [
    {
      reason: 'TooManyTools',
      message: `${count} tools are attached, at most ${TOOLS_LIMIT} can be offered; remove this agent from spec.agentRefs of some`,
    },
  ];
}

function promptProblems(agent: Agent, world: World): readonly Problem[] {
  const ref = agent.spec.llm.systemPromptFrom?.configMapKeyRef;
  if (ref === undefined) return [];
  const namespace = agent.metadata.namespace ?? '';
  const found = world.configMap(namespace, ref.name);
  if (found.state !== 'present' || !found.keys.has(ref.key)) return [];
  const { state } = promptText(world, namespace, ref);
  const thing = `key "${ref.key}" of ConfigMap ${namespace}/${ref.name}`;
  if (state === 'too-large') return [{ reason: 'PromptTooLarge', message: `${thing} is larger than 128 KiB; shorten the system prompt` }];
  if (state === 'binary')
    return [
      {
        reason: 'PromptTooLarge',
        message: `${thing} is not text; keep the system prompt under data, not binaryData, and without the character U+0000`,
      },
    ];
  return [];
}

/** Postgres gets the deletion first; when it can't be reached the object is let go after a bounded time. */
function planDeletion(agent: Agent, store: StoreView, options: AgentPlanOptions): Plan<AgentAction, AgentStatus> {
  if (!hasFinalizer(agent)) return { actions: [] };
  if (store.state === 'known') return { actions: [{ type: 'retire' }, { type: 'dropFinalizer' }] };
  return planHeldUpDeletion(agent, {
    ...options,
    why: store.why,
    words: {
      cannot: "the agent's revisions cannot be taken out of service",
      left: "the agent's revisions left in Postgres",
    },
  });
}
