import type { Agent, AgentStatus, Tool } from '../../crds/index.ts';
import { digestOfDependencies } from '../../crds/agent-dependencies.ts';
import { agentRemarks, toolDataRemarks } from '../../crds/agent-consistency.ts';
import { agentProblems } from '../../crds/limits.ts';
import { companionAddressProblems, providerAddressProblems } from '../../calls/address-problems.ts';
import { notAnOrganization } from '../references/unresolved.ts';
import { promptText, type ClusterSnapshot } from '../references/cluster-snapshot.ts';
import type { RequestedTest, TestEvidence } from '../../store/index.ts';
import type { FinalizerAction, Plan } from '../runtime/reconciler.ts';
import { commonFields, hasFinalizer, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { conditionFrom, type ConditionStage, type PlannedCondition } from '../status/conditions.ts';
import { planBlockedDeletion } from '../runtime/blocked-deletion.ts';
import type { Problem } from '../status/reasons.ts';
import { checkedOnce, forbiddenAddresses, remarksOf } from '../status/spec-problems.ts';
import { accepted, resolvedRefs } from '../status/stages.ts';
import { offeredTools } from '../tool/attachment.ts';
import { budgetActions, planBudget, type BudgetAction, type BudgetView } from './budget.ts';
import { degradationOf } from './degradation.ts';
import { gateOf, type EvidenceView, type Gate, type GateInput } from './gate.ts';
import { planRelease, planSuspendedRelease, type ReleaseAction, type ReleasePlan, type ReleaseView } from './release-plan.ts';
import type { Candidate } from './decide-release.ts';
import { compileRevision, functionsInRevision, sizeInRevision, type CompiledRevision } from './revision.ts';

/** The agent's state in Postgres. */
export type StoreView =
  | {
      readonly state: 'known';
      readonly serving?: Serving;
      readonly release?: ReleaseView;
      /** The revision that `spec.release.pin` names, where that has served. */
      readonly pinned?: Candidate | undefined;
      /** A revision that Postgres refused, and why: another attempt would fail the same way. */
      readonly rejected?: { readonly revision: string; readonly message: string };
      /** Results of tests; absent where none were read. */
      readonly evidence?: readonly TestEvidence[];
    }
  /** Neither read nor written: the status is trusted until Postgres answers again. `why` says what failed and what to do. */
  | { readonly state: 'unavailable'; readonly why: string };

export interface Serving {
  readonly revision: string;
  /** RFC 3339. */
  readonly since: string;
  /** Hash of what the revision has, also where the spec asks for more; known where tests decide. */
  readonly configHash?: string;
}

export type AgentAction =
  | ReleaseAction
  | BudgetAction
  /** Stores the revision and requests a run of the tests. */
  | ({ readonly type: 'test'; readonly tests: readonly RequestedTest[] } & CompiledRevision)
  | { readonly type: 'retire' };

export type AgentPlan = Plan<AgentAction | FinalizerAction, AgentStatus>;

export interface AgentPlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a deletion waits for Postgres, in milliseconds. */
  readonly deletionGraceMs: number;
  /** State of the budget, for an agent that has one. */
  readonly budget?: BudgetView | undefined;
}

/** The providers' own limits are about as high. */
export const TOOLS_LIMIT = 128;
/** Most characters of JSON that the tools of one agent may have together: a quarter of a million tokens, which no model takes. */
export const TOOLS_SIZE_LIMIT = 1024 * 1024;
/** A suspended agent without a release that goes on. */
const PAUSED: PlannedCondition = {
  type: 'Progressing',
  status: 'Unknown',
  reason: 'Suspended',
  message: 'nothing new comes into service while the agent is suspended',
};
const TOOL_NAMES_SHOWN = 64;

/**
 * `desiredRevision` follows the spec at once, valid or not; `servingRevision` only moves to a revision that is valid, stored and tested (see
 * `gate.ts`), so that a broken edit never takes a working agent out of service. An agent that has served continues without what is optional; one
 * that never has waits, so that objects may be applied in any order.
 */
export function planAgent(agent: Agent, snapshot: ClusterSnapshot, store: StoreView, options: AgentPlanOptions): AgentPlan {
  if (isDeleting(agent)) return planDeletion(agent, store, options);
  if (isSuspended(agent)) return planSuspended(agent, store, options.now);
  const namespace = agent.metadata.namespace ?? '';
  const serving = servingOf(agent, store);
  const foreign = notAnOrganization(namespace, snapshot);
  if (foreign.length > 0)
    return { actions: [], status: { ...commonFields(agent, options.now, [accepted(foreign)]), ...servingFields(serving) } };

  const offered = offeredTools(namespace, agent.metadata.name, snapshot);
  const tools = withinLimits(offered, snapshot);
  const desired = compileRevision(agent, tools, snapshot);
  const unreachable = forbiddenAddresses(providerAddressProblems(agent.spec, snapshot.addresses));
  const acceptance = [...checkSpec(agent.spec), ...unreachable, ...tooMany(offered, tools, snapshot)];
  const { essential, optional, rest } = degradationOf(agent, tools, snapshot);
  const blocking = [...acceptance, ...essential, ...promptProblems(agent, snapshot)];
  const sound = blocking.length === 0 && (optional.length === 0 || serving !== undefined);
  const target = sound && optional.length > 0 ? compileRevision(rest.agent, rest.tools, snapshot) : desired;
  const current = serving?.revision === target.revision;
  const reduced = target.revision !== desired.revision;
  const rejected = store.state === 'known' && store.rejected?.revision === target.revision ? store.rejected.message : undefined;
  const references = [...essential, ...promptProblems(agent, snapshot), ...optional];
  const gate = gateOf({
    agent,
    tests: snapshot.testsOf(namespace, agent.metadata.name),
    revision: target.revision,
    configHash: target.configHash,
    sound,
    current,
    unchanged: serving?.configHash === target.configHash,
    promotion: promotionOf(store, desired),
    view: evidenceIn(store),
    now: options.now,
  });
  const release = planRelease({
    agent,
    target,
    desired,
    open: sound && rejected === undefined && gate.open,
    lost: essential.length > 0,
    now: options.now,
    serving,
    store: store.state === 'known' ? store : undefined,
  });
  const sync = synced(agent, { target, sound, current, reduced, rejected, store, gate, release });
  const stages = [
    // Calls start without a webhook and without what a lookup would have found.
    accepted(
      [...acceptance, ...forbiddenAddresses(companionAddressProblems(agent.spec, snapshot.addresses))],
      remarksOn(agent, tools, desired.config.systemPrompt),
    ),
    resolvedRefs(references),
    ...(gate.tested === undefined ? [] : [gate.tested]),
    sync,
  ];
  const budget = planBudget(agent, options.budget, options.now);
  const ready = {
    others: [...budget.conditions, ...progressing(release, serving && sync)],
    message: release.message ?? 'new calls start with the revision that the spec asks for',
    aside:
      serving === undefined
        ? undefined
        : asideOf({
            sound,
            current: current || release.pinned,
            complete: optional.length === 0,
            canary: release.status.canary?.percent,
          }),
  };
  const testable = sound && rejected === undefined && store.state === 'known';
  const recheckAfterMs = Math.min(gate.recheckAfterMs ?? Infinity, release.requeueAfterMs ?? Infinity, budget.requeueAfterMs ?? Infinity);
  const actions = actionsOf(agent, target, { request: testable ? gate.request : [], release, store });
  return {
    actions,
    // The status shows whether a skip is known already, and it is written once no action is left.
    notices: [...(actions.length === 0 ? gate.notices : []), ...release.notices, ...budget.notices],
    ...(recheckAfterMs !== Infinity && { requeueAfterMs: recheckAfterMs }),
    status: {
      ...commonFields(agent, options.now, stages, ready),
      desiredRevision: desired.revision,
      ...servingFields(serving),
      ...release.status,
      observedDependenciesDigest: dependenciesDigest(agent, snapshot),
      tools: {
        total: offered.length,
        names: offered
          .map((tool) => tool.metadata.name)
          .sort()
          .slice(0, TOOL_NAMES_SHOWN),
      },
    },
  };
}

const checkSpec = checkedOnce(agentProblems);

function remarksOn(agent: Agent, tools: readonly Tool[], prompt: string | null): readonly string[] {
  const ofTools = tools.flatMap((tool) =>
    remarksOf(toolDataRemarks(tool.spec, agent.spec)).map((text) => `Tool ${tool.metadata.name}: ${text}`),
  );
  return [...remarksOf(agentRemarks(agent.spec, prompt ?? undefined)), ...ofTools];
}

/** Returns `Progressing`, which is there as long as something serves: False, with the reason of `Synced`, where no release says more. */
function progressing({ progressing: reported }: ReleasePlan, sync: ConditionStage | undefined): readonly PlannedCondition[] {
  if (reported !== undefined) return [reported];
  return sync === undefined ? [] : [{ ...conditionFrom(sync), type: 'Progressing', status: 'False' }];
}

/** Says what calls of an agent that has served do meanwhile. */
function asideOf({
  sound,
  current,
  complete,
  canary,
}: { readonly [K in 'sound' | 'current' | 'complete']: boolean } & { readonly canary: number | undefined }) {
  if (!current && canary !== undefined)
    return `calls continue, ${canary} % of them with the canary and the others with what served before it`;
  if (!current) return 'calls continue with the last valid revision';
  return sound && !complete ? 'calls continue without it' : undefined;
}

/** The finalizer comes first: a revision that is stored without one would outlive its agent. */
function actionsOf(
  agent: Agent,
  target: CompiledRevision,
  { request, release, store }: { readonly request: Gate['request']; readonly release: ReleasePlan; readonly store: StoreView },
): AgentPlan['actions'] {
  const former = store.state === 'known' ? store.release?.state : undefined;
  const serves = former !== undefined || release.actions.some(({ type }) => type === 'serve');
  const actions: readonly AgentAction[] = [
    ...(request.length > 0 ? [{ type: 'test', tests: request, ...target } as const] : []),
    ...release.actions,
    ...(serves ? budgetActions(agent, former?.budget) : []),
  ];
  return actions.length === 0 || hasFinalizer(agent) ? actions : [{ type: 'addFinalizer' }, ...actions];
}

/** Returns the promotion of the serving revision, where the spec asks for that revision. */
function promotionOf(store: StoreView, { configHash }: CompiledRevision): GateInput['promotion'] {
  const release = store.state === 'known' ? store.release?.state : undefined;
  return release?.configHash === configHash ? (release.promoted ?? undefined) : undefined;
}

function evidenceIn(store: StoreView): EvidenceView {
  if (store.state === 'unavailable') return store;
  return store.evidence === undefined ? { state: 'unread' } : { state: 'known', evidence: store.evidence };
}

/** A canary stays under its guard, and an agent that was made again serves what it served. */
function planSuspended(agent: Agent, store: StoreView, now: number): AgentPlan {
  const release = planSuspendedRelease(agent, store.state === 'known' ? store.release : undefined, now);
  const progress = release.progressing ?? (servingOf(agent, store) && PAUSED);
  const { canary: _canary, ...status } = suspendedStatus(agent, now, progress === undefined ? [] : [progress]);
  return {
    actions: release.actions.length === 0 || hasFinalizer(agent) ? release.actions : [{ type: 'addFinalizer' }, ...release.actions],
    notices: release.notices,
    ...(release.requeueAfterMs !== undefined && { requeueAfterMs: release.requeueAfterMs }),
    status: {
      ...status,
      ...(store.state === 'known' && servingFields(store.serving)),
      ...release.status,
    },
  };
}

function synced(
  agent: Agent,
  known: {
    readonly target: CompiledRevision;
    readonly sound: boolean;
    readonly current: boolean;
    /** Something that the spec asks for is left out. */
    readonly reduced: boolean;
    readonly rejected: string | undefined;
    readonly store: StoreView;
    readonly gate: Gate;
    readonly release: ReleasePlan;
  },
): ConditionStage {
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
  const { synced: released } = known.release;
  if (released !== undefined && (known.gate.open !== false || known.release.fixed) && known.rejected === undefined) return released;
  if (known.current && known.reduced)
    return {
      type: 'Synced',
      good,
      problems: [{ reason: 'RevisionReduced', message: 'new calls start with everything that the spec asks for except what is missing' }],
    };
  if (known.current) return { type: 'Synced', good, problems: [] };
  if (known.rejected !== undefined) return { type: 'Synced', good, problems: [{ reason: 'RevisionRejected', message: known.rejected }] };
  const { held, tested } = known.gate;
  if (held !== undefined && known.store.state === 'known') {
    const problem = held === 'failed' ? failedTests(agent, known.target) : AWAITS_TESTS;
    const why = (tested?.problems ?? []).map(({ message }): Problem => ({ reason: problem.reason, message }));
    return { type: 'Synced', good, problems: [problem, ...why] };
  }
  const waiting: Problem =
    known.store.state === 'unavailable'
      ? { reason: 'StoreUnavailable', message: `the revision cannot be stored: ${known.store.why}; the operator retries` }
      : { reason: 'RevisionPending', message: 'the revision is being stored' };
  return { type: 'Synced', good, problems: [waiting] };
}

const AWAITS_TESTS: Problem = {
  reason: 'RevisionAwaitsTests',
  message: 'the revision is not put into service until its required AgentTests have passed',
};

/** Says how to serve the revision all the same; nobody would type its digest. */
function failedTests({ metadata }: Agent, { revision }: CompiledRevision): Problem {
  const patch = JSON.stringify({ spec: { release: { skipTests: { revision, reason: '<why>' } } } });
  const command = `kubectl patch agents.parley.dev ${metadata.name} -n ${metadata.namespace ?? ''} --type=merge -p '${patch}'`;
  return {
    reason: 'RevisionFailedTests',
    message: `the revision is not put into service, because required AgentTests have not passed; to serve it all the same: ${command}`,
  };
}

function servingOf(agent: Agent, store: StoreView): Serving | undefined {
  if (store.state === 'known') return store.serving;
  const { servingRevision, servingSince } = agent.status ?? {};
  return servingRevision === undefined ? undefined : { revision: servingRevision, since: servingSince ?? '' };
}

function servingFields(serving: Serving | undefined): Pick<AgentStatus, 'servingRevision' | 'servingSince'> {
  if (serving === undefined) return {};
  return { servingRevision: serving.revision, ...(serving.since === '' ? {} : { servingSince: serving.since }) };
}

/** Includes tools that lose their function name to another: REST lists them, too. */
function dependenciesDigest(agent: Agent, snapshot: ClusterSnapshot): string {
  const { namespace = '', name } = agent.metadata;
  const base = agent.spec.knowledgeBaseRef && snapshot.knowledgeBase(namespace, agent.spec.knowledgeBaseRef.name);
  return digestOfDependencies({
    tools: snapshot.toolsOf(namespace, name).filter((tool) => !isDeleting(tool)),
    knowledgeBaseUid: base === undefined || isDeleting(base) ? undefined : base.metadata.uid,
  });
}

/** Returns as many tools as one agent can have, in order. Tools attach themselves, so their number has no other bound. */
export function withinLimits(offered: readonly Tool[], snapshot: ClusterSnapshot): readonly Tool[] {
  let [size, functions] = [0, 0];
  const beyond = offered.findIndex((tool) => {
    functions += functionsInRevision(tool, snapshot);
    if (functions > TOOLS_LIMIT) return true;
    size += sizeInRevision(tool, snapshot);
    return size > TOOLS_SIZE_LIMIT;
  });
  return beyond < 0 ? offered : offered.slice(0, beyond);
}

function tooMany(offered: readonly Tool[], within: readonly Tool[], snapshot: ClusterSnapshot): readonly Problem[] {
  if (offered.length === within.length) return [];
  const count = offered.reduce((sum, tool) => sum + functionsInRevision(tool, snapshot), 0);
  const fit = offered.slice(0, within.length + 1).reduce((sum, tool) => sum + functionsInRevision(tool, snapshot), 0) <= TOOLS_LIMIT;
  const message = !fit
    ? `${count} tools are attached, at most ${TOOLS_LIMIT} can be offered; remove this agent from spec.agentRefs of some`
    : `the ${count} attached tools have more than ${TOOLS_SIZE_LIMIT} characters of JSON together; remove this agent from spec.agentRefs of some, or shorten their parameters`;
  return [{ reason: 'TooManyTools', message }];
}

function promptProblems(agent: Agent, snapshot: ClusterSnapshot): readonly Problem[] {
  const ref = agent.spec.llm.systemPromptFrom?.configMapKeyRef;
  if (ref === undefined) return [];
  const namespace = agent.metadata.namespace ?? '';
  const found = snapshot.configMap(namespace, ref.name);
  if (found.state !== 'present' || !found.keys.has(ref.key)) return [];
  const { state } = promptText(snapshot, namespace, ref);
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

/** Postgres gets the deletion first; while it is unavailable, the deletion waits for a bounded time. */
function planDeletion(agent: Agent, store: StoreView, options: AgentPlanOptions): AgentPlan {
  if (!hasFinalizer(agent)) return { actions: [] };
  if (store.state === 'known') return { actions: [{ type: 'retire' }, { type: 'dropFinalizer' }] };
  return planBlockedDeletion(agent, {
    ...options,
    cause: { reason: 'StoreUnavailable', message: store.why },
    blocked: "the agent's revisions cannot be taken out of service",
    left: "the agent's revisions left in Postgres",
  });
}
