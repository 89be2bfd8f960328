/** Releases under everything that happens to agents, against a model that only knows what people decided. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { applyChange, isSame, type ReleaseChange, type ReleaseState } from '../../store/releases/release-state.ts';
import { hasAnyOf, type RevisionParts } from '../../store/releases/revision-parts.ts';
import type { ReleaseFigures } from '../../store/index.ts';
import { decideRelease, decideSuspended, releaseProblems, REPLACED_WITHIN_MS, type ReleaseFacts, type Target } from './decide-release.ts';

const MINUTE = 60_000;
const STEPS = 40;
const RUNS = 500;

const core = fc.constantFrom('1', '2', '3');
const tool = fc.constantFrom('t', 'u');
const happening = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('edit'), core }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('tool'), tool, version: fc.constantFrom('1', '2', undefined) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('replace tool'), tool }) },
  ...(
    'rotate,lose secret,find secret,rename,replace,delete,create,an hour,restart,outage,outage ends,good calls,bad calls,calls without figures,' +
    'a week,rollback,rollback,rollback to,promote,promote named,pin,pin nothing,pass over,unpin,canary,canary,no canary,require tests,suspend,resume,resume'
  )
    .split(',')
    .map((type) => ({ weight: 1, arbitrary: fc.record({ type: fc.constant(type), pick: fc.nat() }) })),
) as fc.Arbitrary<{ type: string; core?: string; tool?: string; version?: string; pick?: number }>;

interface Ban {
  readonly revision: string;
  readonly configHash: string;
  readonly aborted: boolean;
  readonly changed: RevisionParts | null;
}

class World {
  now = Date.parse('2026-06-01T12:00:00Z');
  state: ReleaseState | undefined;
  readonly parts = new Map<string, RevisionParts>();
  /** Revisions that have served, the latest last. */
  readonly served: Target[] = [];
  spec = {
    core: '1',
    name: 'x',
    tools: {} as Record<string, string>,
    pin: undefined as string | undefined,
    onMissing: 'Hold' as 'Hold' | 'Serve',
    canary: false,
    suspended: false,
  };
  cluster = { alive: true, secret: '1', lost: false, outage: false };
  required = false;
  figures: ReleaseFigures = figuresOf(0, 0);
  /** Bans that people decided, or the figures of a canary; they are lifted by name alone. */
  bans: Ban[] = [];

  get target(): Target {
    const { core: agent, tools, name } = this.spec;
    const parts = { agent, tools: { ...tools } };
    const configHash = JSON.stringify(parts);
    const revision = `${configHash}${this.cluster.secret}${name}`;
    this.parts.set(revision, parts);
    return { revision, configHash, parts };
  }

  /** The tests of agents with core 3 and the tool u fail. */
  passes({ parts }: { readonly parts: RevisionParts }): boolean {
    return !this.required || parts.agent !== '3' || parts.tools['u'] === undefined;
  }

  get facts(): ReleaseFacts {
    const { target, state, spec } = this;
    const { lost } = this.cluster;
    const pinned = this.served.findLast(({ revision }) => revision === spec.pin);
    return {
      release: {
        ...(spec.pin !== undefined && { pin: { revision: spec.pin, onMissing: spec.onMissing } }),
        ...(spec.canary && {
          canary: { percent: 10, for: '10m', deadline: '168h', minCalls: 5, abortOn: { errorPercent: 20, p95VoiceToVoice: '900ms' } },
        }),
      },
      target,
      open: !lost && (this.passes(target) || state?.configHash === target.configHash),
      lost,
      state,
      pinned,
      figures: state?.canary ? this.figures : undefined,
      now: this.now,
    };
  }

  change(change: ReleaseChange): void {
    const before = this.state!;
    const after = applyChange(before, change, { now: new Date(this.now), partsOf: (revision) => this.parts.get(revision) });
    expect(after, `${change.type} changes something`).toBeDefined();
    this.state = { ...after!.state, version: before.version + 1 };
    if (change.type === 'abort' || change.type === 'rollback') {
      const { configHash, revision } = before.canary ?? before;
      const entry = this.state.rolledBack.at(-1);
      if (entry?.revision === revision)
        this.bans.push({ revision, aborted: entry.aborted, changed: entry.changed, configHash: configHash! });
    }
    if (this.state.revision !== before.revision || before.retiredAt !== null) this.noteServed(this.state);
  }

  noteServed({ revision, configHash }: ReleaseState): void {
    this.served.push({ revision, configHash: configHash!, parts: this.parts.get(revision)! });
  }

  lift({ configHash }: { readonly configHash: string | null }): void {
    this.bans = this.bans.filter((ban) => ban.configHash !== configHash);
  }

  /** Reconciles as the operator does, until nothing is left to do. */
  reconcile(): void {
    const { cluster } = this;
    if (cluster.outage) return;
    if (!cluster.alive) {
      if (this.state?.retiredAt === null) this.change({ type: 'retire' });
      return;
    }
    for (let round = 0; ; round += 1) {
      expect(round, 'it comes to rest').toBeLessThan(8);
      const { facts, state } = this;
      const { step } = this.spec.suspended ? decideSuspended({ ...facts, revision: facts.target.revision }) : decideRelease(facts);
      if (step === undefined) return this.rest(facts);
      if (step.type === 'begin_canary') this.figures = figuresOf(0, 0);
      // What the operator promotes has kept its limits.
      if (step.type === 'promote') this.lift(state!.canary!);
      if (state === undefined) {
        expect(step.type).toBe('serve');
        this.state = { ...first(step as { revision: string; configHash: string }), activeSince: new Date(this.now) };
        this.noteServed(this.state);
      } else this.change(step);
      if (step.type === 'serve' || step.type === 'begin_canary')
        expect(('pinned' in step && step.pinned) || facts.open, 'what is put into service passed its tests').toBe(true);
      this.check();
    }
  }

  check(): void {
    const { state } = this;
    if (state === undefined || state.retiredAt !== null) return;
    for (const ban of this.bans) {
      const isBanned = (each: Pick<Target, 'revision'> & { readonly configHash: string | null }) =>
        each.revision === ban.revision || each.configHash === ban.configHash;
      expect(isBanned(state), 'what was rolled back serves').toBe(false);
      if (ban.aborted || state.canary === null) continue;
      expect(isBanned(state.canary), 'what was rolled back is tried').toBe(false);
      if (state.canary.configHash !== state.configHash)
        expect(hasAnyOf(this.parts.get(state.canary.revision)!, ban.changed), 'its change is tried').toBe(false);
    }
  }

  rest(facts: ReleaseFacts): void {
    if (this.spec.suspended || !facts.open) return;
    const { state, target } = this;
    if (state?.retiredAt === null && state.revision === target.revision) return;
    // Something else serves: the status says why.
    const decision = decideRelease(facts);
    if (decision.phase.type !== 'pinned') expect(releaseProblems(decision, facts)).not.toEqual([]);
  }

  happen({
    type,
    core: edited,
    tool: name = '',
    version,
    pick = 0,
  }: {
    type: string;
    core?: string;
    tool?: string;
    version?: string;
    pick?: number;
  }): void {
    const { spec, cluster, state } = this;
    const serving = !cluster.outage && state?.retiredAt === null ? state : undefined;
    switch (type) {
      case 'edit':
        spec.core = edited!;
        break;
      case 'tool':
        if (version === undefined) delete spec.tools[name];
        else spec.tools[name] = version;
        break;
      case 'replace tool': {
        const former = spec.tools[name];
        delete spec.tools[name];
        this.reconcile();
        if (former !== undefined) spec.tools[name] = former;
        break;
      }
      case 'replace':
        if (!cluster.alive) break;
        cluster.alive = false;
        this.reconcile();
        cluster.alive = true;
        break;
      case 'rollback': {
        const to = serving?.canary
          ? serving
          : this.served.findLast(
              ({ configHash }) => configHash !== state?.configHash && !this.bans.some((ban) => ban.configHash === configHash),
            );
        if (serving !== undefined && to !== undefined) this.change({ type: 'rollback', to: to.revision, configHash: to.configHash });
        break;
      }
      case 'rollback to': {
        const to = this.served[pick % (this.served.length || 1)];
        if (serving === undefined || to === undefined || isSame(to, serving.canary ?? serving)) break;
        this.lift(to);
        this.change({ type: 'rollback', to: to.revision, configHash: to.configHash });
        break;
      }
      case 'promote':
      case 'promote named': {
        const named = type === 'promote' ? undefined : serving?.rolledBack[pick % (serving.rolledBack.length || 1)];
        const next = named ?? serving?.canary ?? serving?.rolledBack.at(-1);
        if (serving === undefined || next === undefined) break;
        this.change({ type: 'force_promote', revision: named?.revision });
        this.lift(next);
        break;
      }
      case 'restart':
      case 'outage ends':
        cluster.outage = false;
        break;
      default:
        (
          {
            rotate: () => (cluster.secret = cluster.secret === '1' ? '2' : '1'),
            'lose secret': () => (cluster.lost = true),
            'find secret': () => (cluster.lost = false),
            rename: () => (spec.name = spec.name === 'x' ? 'y' : 'x'),
            delete: () => (cluster.alive = false),
            create: () => (cluster.alive = true),
            'an hour': () => (this.now += REPLACED_WITHIN_MS),
            outage: () => (cluster.outage = true),
            'good calls': () => (this.figures = { ...figuresOf(10, 0), p95VoiceToVoiceMs: 500 }),
            'bad calls': () => (this.figures = { ...figuresOf(10, 5), p95VoiceToVoiceMs: 500 }),
            'calls without figures': () => (this.figures = figuresOf(10, 0)),
            'a week': () => (this.figures = { ...this.figures, elapsedMs: 168 * 60 * MINUTE }),
            pin: () => (spec.pin = this.served[pick % (this.served.length || 1)]?.revision),
            'pin nothing': () => Object.assign(spec, { pin: 'nothing', onMissing: 'Hold' }),
            'pass over': () => Object.assign(spec, { pin: 'nothing', onMissing: 'Serve' }),
            unpin: () => (spec.pin = undefined),
            canary: () => (spec.canary = true),
            'no canary': () => (spec.canary = false),
            'require tests': () => (this.required = true),
            suspend: () => (spec.suspended = true),
            resume: () => (spec.suspended = false),
          } as Partial<Record<string, () => unknown>>
        )[type]?.();
    }
    this.now += MINUTE;
  }
}

function figuresOf(calls: number, errors: number): ReleaseFigures {
  const rest = { errorsByReason: {}, failedToolCalls: 0, p95VoiceToVoiceMs: null, analysis: { results: 0, value: null } };
  return { calls, errors, ...rest, elapsedMs: calls * MINUTE };
}

function first({ revision, configHash }: { readonly revision: string; readonly configHash: string }): ReleaseState {
  return { version: 1, revision, configHash, activeSince: new Date(0), canary: null, rolledBack: [], retiredAt: null, promoted: null };
}

it('serves nothing that was rolled back and not named since, or that failed its tests; what is deleted takes no call; and it comes to rest', () => {
  expect.hasAssertions();
  fc.assert(
    fc.property(fc.array(happening, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (happenings) => {
      const world = new World();
      world.reconcile();
      for (const what of happenings) {
        world.happen(what);
        world.reconcile();
        world.check();
        const { cluster, state } = world;
        if (!cluster.alive && !cluster.outage && state !== undefined) expect(state.retiredAt).not.toBeNull();
      }
    }),
    { numRuns: RUNS },
  );
});
