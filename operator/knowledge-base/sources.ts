/**
 * Plans the documents of a knowledge base's sources. A new document is added next to the one that is served; the ingestion replaces
 * the older one in the transaction that completes the new one, so that a source always has an answer.
 */
import { millisecondsOf } from '../../crds/duration.ts';
import type { KnowledgeBase, KnowledgeBaseStatus } from '../../crds/index.ts';
import { wellKnown } from '../../crds/index.ts';
import type { NewDocument } from '../../store/index.ts';
import { unresolved } from '../references/unresolved.ts';
import { knowledgeBaseReferences } from '../references/references-of.ts';
import type { ClusterSnapshot } from '../references/cluster-snapshot.ts';
import { backoffDelay } from '../../platform/backoff.ts';
import { canonicalJson, sha256 } from '../../platform/canonical-json.ts';
import { fitText } from '../../platform/cut-text.ts';
import { timestamp } from '../../kube/timestamps.ts';
import type { Problem } from '../status/reasons.ts';
import type { SourceDocument } from './view.ts';

type Source = NonNullable<KnowledgeBase['spec']['sources']>[number];
export type SourceStatus = NonNullable<KnowledgeBaseStatus['sources']>[number];

export type WantedDocument = Pick<NewDocument, 'kind' | 'filename' | 'urls' | 'content' | 'bytes' | 'metadata'> & {
  readonly source: string;
  readonly sourceRevision: string;
};

export interface Superfluous {
  readonly documentId: string;
  /**
   * Keep it where it has been completed meanwhile: it has replaced what was served before, and nothing else would be found.
   */
  readonly unlessCompleted: boolean;
}

export interface SourcesPlan {
  readonly wanted: readonly WantedDocument[];
  readonly superfluous: readonly Superfluous[];
  readonly status: readonly SourceStatus[];
  /** When the next source is due, in milliseconds from now; `Infinity` where none is. */
  readonly dueInMs: number;
}

/** Errors that another attempt with the same bytes would repeat. */
const PERMANENT_ERRORS: ReadonlySet<string | null> = new Set([
  'unsupported_content',
  'too_large',
  'password_protected',
  'corrupt_file',
  'empty_document',
  'no_text_layer',
]);

/** Backoff after temporary failures. */
const RETRY = { baseMs: 5 * 60_000, maxMs: 6 * 3_600_000, jitter: 0 } as const;
/** States of a document, as the status says them. */
const STATES = { processing: 'Processing', completed: 'Completed', failed: 'Failed' } as const;
/** Longest `status.sources[].message`, in characters. */
const MESSAGE_LIMIT = 1024;

/** Texts that can't be a document, in the order of the spec. */
export function sourceProblems(knowledgeBase: KnowledgeBase, snapshot: ClusterSnapshot): readonly Problem[] {
  return (knowledgeBase.spec.sources ?? []).flatMap((source) => textProblem(knowledgeBase, source, snapshot) ?? []);
}

/**
 * @param documents - the documents of all sources, oldest first
 * @param now - milliseconds since the epoch
 */
export function planSources(
  knowledgeBase: KnowledgeBase,
  snapshot: ClusterSnapshot,
  { documents, now }: { readonly documents: readonly SourceDocument[]; readonly now: number },
): SourcesPlan {
  const sources = knowledgeBase.spec.sources ?? [];
  const bySource = Map.groupBy(documents, (document) => document.source);
  const plans = sources.map((source) => planSource(source, bySource.get(source.name) ?? [], { knowledgeBase, snapshot, now }));
  const names = new Set(sources.map(({ name }) => name));
  return {
    wanted: plans.flatMap(({ wanted }) => wanted ?? []),
    superfluous: [
      ...documents.filter(({ source }) => !names.has(source)).map(({ id }) => ({ documentId: id, unlessCompleted: false })),
      ...plans.flatMap(({ superfluous }) => superfluous.map(({ id }) => ({ documentId: id, unlessCompleted: true }))),
    ],
    status: plans.map(({ status }) => status),
    dueInMs: Math.min(Infinity, ...plans.map(({ dueAt }) => dueAt - now)),
  };
}

interface SourcePlan {
  readonly wanted?: WantedDocument;
  readonly superfluous: readonly SourceDocument[];
  readonly status: SourceStatus;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
}

function planSource(
  source: Source,
  documents: readonly SourceDocument[],
  context: { readonly knowledgeBase: KnowledgeBase; readonly snapshot: ClusterSnapshot; readonly now: number },
): SourcePlan {
  const { knowledgeBase, snapshot, now } = context;
  const served = documents.findLast(({ status }) => status === 'completed');
  const shown = { name: source.name, ...(served && { documentID: served.id, lastRefreshedAt: timestamp(served.progressAt) }) };
  const problem = sourceProblem(knowledgeBase, source, snapshot);
  if (problem !== undefined) {
    const message = fitText(served === undefined ? problem : `${problem}; the previous content stays in use`, MESSAGE_LIMIT);
    return { superfluous: [], status: { ...shown, state: 'Failed', message }, dueAt: Infinity };
  }

  const content = desiredContent(knowledgeBase, source, snapshot);
  const request = requestMark(knowledgeBase);
  const attempts = documents.filter(({ revision }) => parseRevision(revision).content === content.hash);
  const latest = attempts.at(-1);
  const next: SourceRevision = { content: content.hash, attempt: lastAttempt(attempts) + 1, request };
  const failures = latest === undefined ? 0 : next.attempt - 1 - (served && attempts.includes(served) ? attemptNumber(served) : 0);
  const dueAt = latest === undefined || latest.status === 'processing' ? Infinity : nextAttemptAt(source, latest, failures);
  if (latest !== undefined && !isDue(source, latest, { newest: documents.at(-1) === latest, request, dueAt, now })) {
    return {
      // Newer ones would replace it when they complete, though it is what the spec asks for.
      superfluous: documents.filter(
        (document, index) => document !== latest && (document.status === 'failed' || index > documents.indexOf(latest)),
      ),
      status: { ...shown, state: STATES[latest.status], ...sourceMessage(latest, { served, dueAt }) },
      dueAt,
    };
  }
  // One document is ingested at a time: of a text that changes every second, ingestion would start every state and complete none in time.
  const others = documents.filter(({ status }) => status === 'processing');
  const atWork = others.some(({ queued }) => !queued);
  return {
    ...(atWork
      ? {}
      : { wanted: { ...content.document, metadata: source.metadata ?? {}, source: source.name, sourceRevision: printRevision(next) } }),
    superfluous: others.filter(({ queued }) => queued),
    status: { ...shown, state: 'Processing' },
    dueAt: Infinity,
  };
}

function isDue(
  source: Source,
  latest: SourceDocument,
  { newest, request, dueAt, now }: { readonly newest: boolean; readonly request: string; readonly dueAt: number; readonly now: number },
): boolean {
  if (latest.status === 'processing') return false;
  if (dueAt <= now) return true;
  // A request tries again: pages may have changed, and what failed may succeed now. A text that was read is the same.
  const asked = request !== '' && parseRevision(latest.revision).request !== request;
  if (latest.status === 'failed') return asked || !newest;
  return asked && source.type === 'Website';
}

/** Failures are retried with the refreshes, temporary ones also after a backoff. */
function nextAttemptAt(source: Source, latest: SourceDocument, failures: number): number {
  const interval = source.refreshInterval === undefined ? Infinity : millisecondsOf(source.refreshInterval);
  if (latest.status === 'completed') return source.type === 'ConfigMap' ? Infinity : latest.progressAt + interval;
  const backoff = PERMANENT_ERRORS.has(latest.errorCode) ? Infinity : backoffDelay(failures, RETRY);
  return latest.progressAt + Math.min(interval, backoff);
}

function lastAttempt(attempts: readonly SourceDocument[]): number {
  return attempts.reduce((last, document) => Math.max(last, attemptNumber(document)), 0);
}

function attemptNumber({ revision }: SourceDocument): number {
  return parseRevision(revision).attempt;
}

function sourceMessage(
  latest: SourceDocument,
  { served, dueAt }: { readonly served: SourceDocument | undefined; readonly dueAt: number },
): Pick<SourceStatus, 'message'> {
  if (latest.status === 'processing' || latest.message === '') return {};
  if (latest.status === 'completed') return { message: fitText(latest.message, MESSAGE_LIMIT) };
  const until = [
    ...(served === undefined ? [] : ['the previous content stays in use']),
    dueAt === Infinity ? 'retried when the source changes' : `retried at ${timestamp(dueAt)}`,
  ].join('; ');
  const what = `${latest.errorCode ?? 'failed'}: ${latest.message}`;
  return { message: `${fitText(what, MESSAGE_LIMIT - until.length - 2)}; ${until}` };
}

/** The document of the source now, and a hash of everything that makes it what it is. */
function desiredContent(
  knowledgeBase: KnowledgeBase,
  source: Source,
  snapshot: ClusterSnapshot,
): { readonly hash: string; readonly document: Pick<WantedDocument, 'kind' | 'filename' | 'urls' | 'content' | 'bytes'> } {
  const { documentLanguage, chunking } = knowledgeBase.spec;
  const ref = source.configMap;
  const found = ref === undefined ? undefined : snapshot.configText(knowledgeBase.metadata.namespace ?? '', ref.name, ref.key);
  const text = found?.state === 'text' ? found.text : '';
  const urls = source.website?.urls ?? [];
  const hash = sha256(
    canonicalJson({
      ...(ref === undefined ? { urls } : { key: ref.key, text: sha256(text) }),
      metadata: source.metadata ?? {},
      documentLanguage,
      chunking,
    }),
  );
  return {
    hash,
    document:
      ref === undefined
        ? { kind: 'website', filename: urls[0] ?? '', urls }
        : { kind: 'text', filename: ref.key, content: text, bytes: Buffer.byteLength(text) },
  };
}

/** Returns a short mark, because each revision repeats it; empty without a request. */
function requestMark({ metadata }: KnowledgeBase): string {
  const requested = metadata.annotations?.[wellKnown.reconcileRequestedAt];
  return requested === undefined ? '' : sha256(requested).slice(0, 12);
}

function sourceProblem(knowledgeBase: KnowledgeBase, source: Source, snapshot: ClusterSnapshot): string | undefined {
  const only = { spec: { ...knowledgeBase.spec, sources: [source] } };
  const [missing] = unresolved(knowledgeBase.metadata.namespace ?? '', knowledgeBaseReferences(only), snapshot);
  return (missing ?? textProblem(knowledgeBase, source, snapshot))?.message;
}

function textProblem(knowledgeBase: KnowledgeBase, source: Source, snapshot: ClusterSnapshot): Problem | undefined {
  const ref = source.configMap;
  if (ref === undefined) return undefined;
  const namespace = knowledgeBase.metadata.namespace ?? '';
  const found = snapshot.configMap(namespace, ref.name);
  if (found.state !== 'present' || !found.keys.has(ref.key)) return undefined;
  const { state } = snapshot.configText(namespace, ref.name, ref.key);
  const thing = `key "${ref.key}" of ConfigMap ${namespace}/${ref.name}`;
  if (state === 'too-large') return { reason: 'SourceNotText', message: `${thing} is larger than 1 MiB; upload it as a document instead` };
  if (state === 'binary')
    return {
      reason: 'SourceNotText',
      message: `${thing} is not text; keep it under data, not binaryData, and without the character U+0000, or upload it as a document instead`,
    };
  return undefined;
}

/** Identifies the state of a source that a document holds. */
interface SourceRevision {
  /** Hash of everything that makes the document what it is. */
  readonly content: string;
  /** Counts the attempts at this content, from 1: each is a document of its own. */
  readonly attempt: number;
  /** Stands for the request that this attempt answers; see {@link requestMark}. */
  readonly request: string;
}

/** Writes the revision as Postgres stores it, which accepts each state of a source once however often it is tried. */
function printRevision({ content, attempt, request }: SourceRevision): string {
  return `${content}.${attempt}.${request}`;
}

/** A text that {@link printRevision} did not print matches no content. */
function parseRevision(text: string): SourceRevision {
  const [content = '', attempt, request = ''] = text.split('.');
  return { content, attempt: Number(attempt) || 0, request };
}
