/** The condition `Ingesting`: how far the documents are. It says nothing about whether the knowledge base can be used. */
import type { KnowledgeBase } from '../../crds/index.ts';
import { findCondition } from '../../crds/kind.ts';
import type { PlannedCondition } from '../status/conditions.ts';
import type { Reason } from '../status/reasons.ts';
import type { DocumentCounts, KnowledgeView } from './view.ts';

/** Returns no condition before the first document; while Postgres is unavailable, what the status has. */
export function ingesting(knowledgeBase: KnowledgeBase, view: KnowledgeView): readonly PlannedCondition[] {
  if (view.state === 'unavailable') {
    const reported = findCondition(knowledgeBase, 'Ingesting');
    if (reported === undefined) return [];
    const { status, reason, message } = reported;
    return [{ type: 'Ingesting', status, reason: reason as Reason, message }];
  }
  const { documents } = view;
  if (documents === undefined || documents.total === 0) return [];
  return [
    documents.processing > 0
      ? { type: 'Ingesting', status: 'True', reason: 'DocumentsInProgress', message: inProgress(documents) }
      : { type: 'Ingesting', status: 'False', reason: 'DocumentsSettled', message: settled(documents) },
  ];
}

function inProgress({ processing, total, failed }: DocumentCounts): string {
  const verb = processing === 1 ? 'is' : 'are';
  return `${count(processing)} of ${counted(total)} ${verb} being read${failed === 0 ? '' : `; ${failures(failed)}`}`;
}

function settled({ completed, total, failed }: DocumentCounts): string {
  if (failed === 0) return `${counted(total)} can be found`;
  return `${count(completed)} of ${counted(total)} can be found; ${failures(failed)}: their status says why (GET /api/v1/knowledge-bases/{kb_id}/documents)`;
}

const failures = (failed: number): string => `${count(failed)} ${failed === 1 ? 'has' : 'have'} failed`;
const counted = (total: number): string => `${count(total)} ${total === 1 ? 'document' : 'documents'}`;
/** Writes `1,358`. */
const count = (value: number): string => value.toLocaleString('en');
